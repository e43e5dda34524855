"""Networks of words, sounds and attention in the wide set: layer shapes of the published ones, random weights."""
import networks_audio
import networks_detr
import networks_llm
import networks_speech
import networks_text
import networks_vision_transformer

NETWORKS = {**networks_vision_transformer.NETWORKS, **networks_detr.NETWORKS, **networks_audio.NETWORKS,
            **networks_speech.NETWORKS, **networks_text.NETWORKS, **networks_llm.NETWORKS}
