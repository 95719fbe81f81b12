"""Writes the smallest wheel that installers take: make-wheel.py FOLDER NAME VERSION REQUIREMENT... Prints the file's name."""

import os
import sys
import zipfile

folder, name, version, *requirements = sys.argv[1:]
info = f"{name}-{version}.dist-info"
files = {
    f"{name}.py": f'version = "{version}"\n',
    f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    + "".join(f"Requires-Dist: {requirement}\n" for requirement in requirements),
    f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
wheel = f"{name}-{version}-py3-none-any.whl"
with zipfile.ZipFile(os.path.join(folder, wheel), "w") as archive:
    for path, text in [*files.items(), (f"{info}/RECORD", record)]:
        archive.writestr(path, text)
with open(os.path.join(folder, f"{wheel}.metadata"), "w", newline="") as metadata:
    metadata.write(files[f"{info}/METADATA"])
print(wheel)
