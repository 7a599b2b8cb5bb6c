# SPDX-License-Identifier: MIT
"""Reads a pprof profile with protoc, which knows the wire format and nothing of taskscope."""
import ast
import gzip
import pathlib
import subprocess

PROTO = pathlib.Path(__file__).with_name("pprof.proto")


def parse(lines):
    """A message as protoc prints it: each field with the list of its values."""
    message = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith("{"):
            message.setdefault(line[:-1].strip(), []).append(parse(lines))
            continue
        key, value = line.split(": ", 1)
        if value.startswith('"'):
            value = ast.literal_eval("b" + value).decode()
        else:
            value = value == "true" if value in ("true", "false") else int(value)
        message.setdefault(key, []).append(value)
    return message


class Profile:
    """A profile whose numbers are replaced by what they stand for."""

    def __init__(self, path):
        decoded = subprocess.run(
            ["protoc", f"--proto_path={PROTO.parent}", "--decode=Profile", PROTO.name],
            input=gzip.open(path).read(), stdout=subprocess.PIPE, check=True).stdout
        self.fields = parse(iter(decoded.decode().splitlines()))
        strings = self.fields["string_table"]
        assert strings[0] == "", strings[0]
        unknown = [key for key in self.fields if key.isdigit()]
        assert not unknown, unknown
        self.types = [(strings[type_["type"][0]], strings[type_["unit"][0]])
                      for type_ in self.fields["sample_type"]]
        self.mappings = self.by_id("mapping")
        functions = self.by_id("function")
        self.names = {id_: (strings[function["name"][0]], strings[function.get("filename", [0])[0]])
                      for id_, function in functions.items()}
        self.locations = self.by_id("location")
        self.samples = [self.sample(sample, strings) for sample in self.fields["sample"]]

    def by_id(self, key):
        things = {thing["id"][0]: thing for thing in self.fields.get(key, [])}
        assert len(things) == len(self.fields.get(key, [])), f"two of {key} have one id"
        assert 0 not in things
        return things

    def file_of(self, location):
        """The file and the build id of a location, or None."""
        mapping = self.mappings[location["mapping_id"][0]] if "mapping_id" in location else None
        strings = self.fields["string_table"]
        return mapping and (strings[mapping.get("filename", [0])[0]],
                            strings[mapping.get("build_id", [0])[0]])

    def sample(self, sample, strings):
        """Its frames, innermost first, its values and its labels."""
        frames = []
        for id_ in sample["location_id"]:
            location = self.locations[id_]
            frames.extend((*self.names[line["function_id"][0]], line.get("line", [0])[0])
                          for line in location.get("line", []))
            if "line" not in location:
                frames.append((hex(location["address"][0]), "", 0))
        labels = {strings[label["key"][0]]: strings[label["str"][0]] if "str" in label else
                  label["num"][0] for label in sample["label"]}
        return frames, tuple(sample["value"]), labels
