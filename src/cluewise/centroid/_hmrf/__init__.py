"""HMRFKMeans and its special cases: links that cost by distance, in a learned metric."""
