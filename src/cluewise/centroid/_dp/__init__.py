"""DPMeans and RDPMeans, which find the number of clusters."""
