"""The Kafka runtime: a stage's partitions over the same engine as the embedded one.

``wire`` says how things lie on topics, ``log`` reads them plainly, ``states`` keeps a partition's states on the local
disk, ``effects`` performs a cut, ``gate`` asks the index how far memory is complete, ``partition`` runs one partition
from its assignment to its end, ``worker`` all of a process. ``streams.faust_app`` feeds it.
"""
