"""What an iteration reports: metrics, TensorBoard, pictures."""
