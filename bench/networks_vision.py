"""Networks of images in the wide set, with the layer shapes of the published ones and random weights."""
import networks_classify

NETWORKS = {**networks_classify.NETWORKS}
