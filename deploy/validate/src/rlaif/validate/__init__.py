"""Are the manifests of deploy/ right? Reads files, starts kubectl, needs no cluster."""
