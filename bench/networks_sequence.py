"""Networks of words, sounds and attention in the wide set, with the layer shapes of the published ones and random weights."""
import networks_text
import networks_vision_transformer

NETWORKS = {**networks_vision_transformer.NETWORKS, **networks_text.NETWORKS}
