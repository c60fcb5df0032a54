"""Storyboards (text-to-scene): scenes in an order, their clips, and the film of all of them."""
