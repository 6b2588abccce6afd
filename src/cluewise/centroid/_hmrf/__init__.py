"""HMRFKMeans and its cases: broken links cost by distance, under a metric that is learned."""
