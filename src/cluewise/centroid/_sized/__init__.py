"""SizedKMeans and BalancedKMeans: clusters of bounded sizes."""
