"""What tests share: references, clients, small runs and scripted players."""
