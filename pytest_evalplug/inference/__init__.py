"""From a prompt to a prediction: the look-ahead engine and the gen, ppl and ll inferencers."""
