"""From a prompt to a prediction: the engine that looks ahead, and the gen, ppl and ll inferencers."""
