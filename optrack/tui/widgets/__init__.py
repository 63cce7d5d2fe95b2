"""The widgets that the screens are made of, one file each."""
