"""Networks of images in the wide set, with the layer shapes of the published ones and random weights."""

NETWORKS = {}
