"""Programs with one fault planted, and their clean twins, judged by laptime run."""
