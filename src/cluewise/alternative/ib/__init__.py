"""The information bottlenecks."""
