"""From a prediction to a detail and a metric: postprocessors, Evaluators, scoring."""
