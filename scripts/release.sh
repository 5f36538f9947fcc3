#!/usr/bin/env bash
# Makes the files of a release from the last commit in build/release-VERSION: the tarball with the documents as web pages, its
# checksum, and the recipes of Spack and conda with that checksum.
#   scripts/release.sh                checks, makes the tarball, unpacks it, builds it there and runs its quick tests
#   scripts/release.sh --url URL      the recipes fetch the tarball from URL/scree-VERSION.tar.gz, not from the current folder
#   scripts/release.sh --no-tests     neither web pages nor build: to see whether all agrees
# Before: the version in CMakeLists.txt is that of all files that tests/style/check_packaging.py knows, CHANGELOG.md has it with a
# date, and all is committed. The script publishes nothing; at the end it says what is left to do.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

url='' tests=true
while [ $# -gt 0 ]; do
  case $1 in
    --url)
      [ $# -gt 1 ] || { echo "release.sh: --url needs an address" >&2; exit 2; }
      url=${2%/}
      shift ;;
    --no-tests) tests=false ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' scripts/release.sh; exit 0 ;;
    *) echo "release.sh: unknown option $1 (valid: --url --no-tests)" >&2; exit 2 ;;
  esac
  shift
done

refuse() { echo "release.sh: $*" >&2; exit 2; }

say "checks"
version=$(sed -n 's/^project(scree VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=scree-$version
[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] || refuse "$PWD is no git work tree"
[ -z "$(git status --porcelain)" ] || refuse "commit or remove what git status names: $(git status --porcelain | head -n 3 | tr '\n' ' ')"
"$python" tests/style/check_packaging.py || refuse "versions, options or dependencies disagree"
grep -qE "^## ${version//./\\.} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)\$" CHANGELOG.md ||
  refuse "CHANGELOG.md has no line \"## $version (YYYY-MM-DD)\""
if git rev-parse -q --verify "refs/tags/v$version" >/dev/null; then
  [ "$(git rev-parse "v$version^{commit}")" = "$(git rev-parse HEAD)" ] || refuse "the tag v$version is another commit"
fi

say "tarball"
out=build/release-$version
rm -rf "$out"
mkdir -p "$out/tree"
git archive --prefix="$name/" HEAD | tar -x -C "$out/tree"
if $tests; then
  cmake --preset release
  cmake --build --preset release -j "$jobs" --target scree scree_bench scree_replay    # they print some of the pages
  scripts/docs.sh
  mkdir -p "$out/tree/$name/build/docs"
  cp -r build/docs/html "$out/tree/$name/build/docs/"
fi
# The same commit gives the same bytes.
tar -c --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -C "$out/tree" "$name" |
  gzip -n >"$out/$name.tar.gz"
rm -rf "$out/tree"
(cd "$out" && sha256sum "$name.tar.gz" >SHA256SUMS)
sum=$(cut -d ' ' -f 1 "$out/SHA256SUMS")

mkdir -p "$out/spack_repo" "$out/conda"
cp -r packaging/spack_repo/scree "$out/spack_repo/"
find "$out/spack_repo" -name __pycache__ -prune -exec rm -r {} +
sed -i "s/version(\"$version\")/version(\"$version\", sha256=\"$sum\")/" "$out/spack_repo/scree/packages/scree/package.py"
source=$name.tar.gz
if [ -n "$url" ]; then
  source=$url/$source
  sed -i -e "/manual_download/d" -e "s|^    url = .*|    url = \"$source\"|" "$out/spack_repo/scree/packages/scree/package.py"
else
  source=../$source
fi
sed "s|^  path: \.\./\.\.\$|  $([ -n "$url" ] && echo url || echo path): $source\n  sha256: $sum|" packaging/conda/recipe.yaml \
  >"$out/conda/recipe.yaml"
for recipe in spack_repo/scree/packages/scree/package.py conda/recipe.yaml; do
  grep -q "$sum" "$out/$recipe" || { echo "release.sh: $recipe did not take the checksum" >&2; exit 1; }
done

if $tests; then
  say "build and quick tests of the tarball"
  mkdir "$out/check"
  tar -xzf "$out/$name.tar.gz" -C "$out/check"
  (cd "$out/check/$name" && cmake --preset release && cmake --build --preset release -j "$jobs" &&
    ctest --preset quick --no-tests=error)
  "$out/check/$name/build/release/bin/scree" --version | grep -F "scree $version " ||
    { echo "release.sh: the program does not say that it is scree $version" >&2; exit 1; }
  rm -rf "$out/check"
fi

say "done"
cat <<END
$(cat "$out/SHA256SUMS")
$out holds $name.tar.gz, SHA256SUMS and the recipes. What is left:
  git tag -s v$version -m "scree $version"; git push origin v$version
  publish the files; under "## Unreleased" in CHANGELOG.md the next version begins
END
$tests || echo "not built and not tested (--no-tests)"
