import { expect, test } from "vitest";
import { normalizedName, versionOfFile } from "../../../../../ingest/collect/python/index-page.js";
import { testTable } from "../../../../support/test-table.js";

test.each([
  ["numpy-1.3.0.tar.gz", "numpy", "1.3.0"],
  ["numpy-1.26.4-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "numpy", "1.26.4"],
  ["torch-2.1.0+cu118-cp311-cp311-linux_x86_64.whl", "torch", "2.1.0+cu118"],
  ["build_tagged-1.0-1build-py3-none-any.whl", "build-tagged", "1.0"],
  ["epoch-1!2.0.post1.dev3-py3-none-any.whl", "epoch", "1!2.0.post1.dev3"],
  ["python-dateutil-2.8.2.tar.gz", "python-dateutil", "2.8.2"],
  ["zope.interface-5.4.0.zip", "zope-interface", "5.4.0"],
  ["Foo__Bar-1.0rc1.tar.bz2", "foo-bar", "1.0rc1"],
  ["old-1.0-1.tgz", "old", "1.0-1"],
  ["a-1-2.0.tar.gz", "a-1", "2.0"],
  ["setuptools-0.6c11-py2.7.egg", "setuptools", "0.6c11"],
  ["NumPy-1.0.TAR.GZ", "numpy", "1.0"],
])("the version of %s of %s is %s", (file, project, version) => {
  expect(versionOfFile(file, project)).toBe(version);
});

test.each(["other-1.0.tar.gz", "numpy.tar.gz", "numpy-.tar.gz", "numpy-1.0.exe", "numpy.whl"])(
  "%s has no version of numpy",
  (file) => expect(versionOfFile(file, "numpy")).toBeUndefined(),
);

testTable("%s is compared as %s", normalizedName, [
  ["NumPy", "numpy"],
  ["zope.interface", "zope-interface"],
  ["Foo-_.Bar", "foo-bar"],
]);
