#!/usr/bin/env python3
"""Lists the third-party crates in a built program: their licences as text, and an SBOM (CycloneDX 1.5, JSON).

    scripts/components.py --target TRIPLE [--manifest-path python/Cargo.toml --package tidegate-python]
                          --notices THIRD-PARTY.txt --sbom tidegate.cdx.json

Dependencies are those that Cargo links for the target: without build scripts, procedural macros and tests. Both files depend on
Cargo.lock and the target alone, and contain neither a path of this machine nor a time. A crate without a licence file must permit
Apache-2.0, whose text is then that of LICENSE-APACHE; otherwise the script fails.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LICENCE_FILE = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
# Files of other projects in the sources of a crate: the crate, then name, licence, page and folder.
VENDORED = {"tidegate-report": ("uPlot", "MIT", "https://github.com/leeoniya/uPlot", "crates/report/assets/uplot")}


def cargo(*arguments):
    """Returns the standard output of a cargo command."""
    run = subprocess.run(["cargo", *arguments], cwd=ROOT, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"cargo {arguments[0]}: {run.stderr.strip()}")
    return run.stdout


def linked(manifest, package, target):
    """Returns the crates that are linked into `package`: metadata by (name, version), and the same keys of dependencies."""
    tree = cargo(
        *("tree", "--manifest-path", manifest, "--package", package, "--target", target, "--locked"),
        *("--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"),
    )
    names = {tuple(line.split(" ")[:2]) for line in tree.splitlines() if line}
    names = {(name, version.removeprefix("v")) for name, version in names}
    metadata = json.loads(
        cargo("metadata", "--manifest-path", manifest, "--filter-platform", target, "--locked", "--format-version", "1")
    )
    key_of = {crate["id"]: (crate["name"], crate["version"]) for crate in metadata["packages"]}
    crates = {key_of[crate["id"]]: crate for crate in metadata["packages"] if key_of[crate["id"]] in names}
    if set(crates) != names:
        sys.exit(f"not in the metadata: {sorted(names - set(crates))}")
    edges = {}
    for node in metadata["resolve"]["nodes"]:
        key = key_of[node["id"]]
        if key in crates:
            normal = [of["pkg"] for of in node["deps"] if any(kind["kind"] is None for kind in of["dep_kinds"])]
            edges[key] = sorted({key_of[of] for of in normal} & names)
    return crates, edges


def checksums(lock):
    """Returns the SHA-256 of each crate of a registry in a Cargo.lock, by (name, version)."""
    entry = r'name = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"\n'
    return {(name, version): checksum for name, version, checksum in re.findall(entry, lock.read_text())}


def licence_of(crate):
    """Returns the SPDX expression of a crate. Older crates separate alternatives by a slash."""
    expression = crate["license"] or sys.exit(f"{crate['name']} {crate['version']} has no licence in its Cargo.toml")
    return re.sub(r"\s*/\s*", " OR ", expression)


def texts_of(crate):
    """Returns the contents of the licence files of a crate."""
    folder = Path(crate["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and LICENCE_FILE.match(path.name))
    texts = ["\n".join(line.rstrip() for line in path.read_text(errors="replace").strip().splitlines()) for path in files]
    if texts:
        return texts
    if "Apache-2.0" not in re.split(r"[^\w.-]+", licence_of(crate)):
        sys.exit(f"{crate['name']} {crate['version']} has no licence file, and its licence is {licence_of(crate)}")
    return [(ROOT / "LICENSE-APACHE").read_text().strip()]


def vendored(crates):
    """Returns name, version, licence, page and licence text of the files in VENDORED that belong to these crates."""
    found = []
    for name, licence, page, folder in (VENDORED[name] for name, _ in crates if name in VENDORED):
        with open(ROOT / folder / f"{name}.iife.min.js", encoding="utf-8") as script:
            version = re.search(r"\(v([\d.]+)\)", script.readline()) or sys.exit(f"{script.name} states no version")
        found.append((name, version.group(1), licence, page, (ROOT / folder / "LICENSE").read_text().strip()))
    return found


def notices(crates):
    """Returns the licences of third-party software as text, equal ones once."""
    entries, texts = [], {}
    others = [crate for crate in crates.values() if crate["source"]]
    parts = [(crate["name"], crate["version"], licence_of(crate), crate["repository"], texts_of(crate)) for crate in others]
    parts += [(*entry, [text]) for *entry, text in vendored(crates)]
    for name, version, licence, page, found in sorted(parts, key=lambda part: (part[0].lower(), part[1])):
        numbers = [texts.setdefault(text, len(texts) + 1) for text in found]
        of = ", ".join(f"[{number}]" for number in numbers)
        entries.append(f"{name} {version}: {licence}; text {of}" + (f"\n    {page}" if page else ""))
    rule = "-" * 80
    head = [
        "Third-party software in this program, with licences. Numbers refer to the texts below.",
        "The Rust standard library is not in this list: its notices are beside it, in COPYRIGHT-library.html or LICENSE-RUST-LIBRARY.html.",
    ]
    bodies = [f"{rule}\n[{number}]\n{rule}\n\n{text}\n" for text, number in texts.items()]
    return "\n".join([*head, "", *entries, "", *bodies])


def component(key, crate, checksum):
    """Returns a component of the SBOM."""
    name, version = key
    found = {
        "type": "library",
        "bom-ref": f"pkg:cargo/{name}@{version}",
        "name": name,
        "version": version,
        "licenses": [{"expression": licence_of(crate)}],
        "purl": f"pkg:cargo/{name}@{version}",
    }
    if checksum:
        found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if crate["repository"]:
        found["externalReferences"] = [{"type": "vcs", "url": crate["repository"]}]
    return found


def sbom(package, crates, edges, sums):
    """Returns the SBOM as JSON."""
    ref = lambda key: f"pkg:cargo/{key[0]}@{key[1]}"  # noqa: E731
    root = next(key for key in crates if key[0] == package)
    components = [component(key, crates[key], sums.get(key)) for key in sorted(crates) if key != root]
    for name, version, licence, page, _ in vendored(crates):
        components.append(
            {
                **{"type": "library", "bom-ref": f"pkg:npm/{name.lower()}@{version}", "name": name, "version": version},
                **{"licenses": [{"expression": licence}], "purl": f"pkg:npm/{name.lower()}@{version}"},
                "externalReferences": [{"type": "vcs", "url": page}],
            }
        )
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**component(root, crates[root], None), "type": "application"}},
        "components": components,
        "dependencies": [{"ref": ref(key), "dependsOn": [ref(of) for of in edges[key]]} for key in sorted(crates)],
    }
    return json.dumps(document, indent=2) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--manifest-path", default="Cargo.toml", help="of the workspace (default: that of the root)")
    parser.add_argument("--package", default="tidegate", help="the crate of the program (default: tidegate)")
    parser.add_argument("--target", required=True, help="the target triple of the program")
    parser.add_argument("--notices", type=Path, required=True, help="file for the licences")
    parser.add_argument("--sbom", type=Path, required=True, help="file for the SBOM")
    arguments = parser.parse_args()
    crates, edges = linked(arguments.manifest_path, arguments.package, arguments.target)
    sums = checksums((ROOT / arguments.manifest_path).with_name("Cargo.lock"))
    missing = [key for key, crate in crates.items() if crate["source"] and key not in sums]
    if missing or not sums:
        sys.exit(f"without a checksum in Cargo.lock: {missing or 'all crates'}")
    document = sbom(arguments.package, crates, edges, sums)
    text = notices(crates)
    for path in {str(ROOT), str(Path.home())}:
        if len(path) > 1 and path in document:
            sys.exit(f"the SBOM contains {path}")
    arguments.sbom.write_text(document)
    arguments.notices.write_text(text)


if __name__ == "__main__":
    main()
