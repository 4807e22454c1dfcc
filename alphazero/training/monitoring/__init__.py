"""Reports of an iteration: metrics, TensorBoard, pictures."""
