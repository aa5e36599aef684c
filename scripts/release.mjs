// npm run release -- 0.2.0: sets this version in every package, and turns "Unreleased" in
// CHANGELOG.md into its heading. Commit the result and push the tag v0.2.0:
// .github/workflows/release.yml tests it again and publishes.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']

/** Returns a package.json with a new version, also for the packages of ours that it depends on. */
export function withVersion(manifest, version, ours) {
  const changed = { ...manifest, version }
  for (const kind of KINDS) {
    if (!manifest[kind]) continue
    changed[kind] = Object.fromEntries(
      Object.entries(manifest[kind]).map(([name, range]) => [
        name,
        ours.includes(name) ? version : range,
      ]),
    )
  }
  return changed
}

/**
 * Returns the changelog with the unreleased entries under a version and date.
 * @throws if there is nothing to release.
 */
export function closeUnreleased(changelog, version, day) {
  const [before, after] = changelog.split('## Unreleased\n')
  if (after === undefined) throw new Error("CHANGELOG.md has no heading '## Unreleased'")
  if (after.split('\n## ')[0].trim() === '') throw new Error('CHANGELOG.md has nothing unreleased')
  if (changelog.includes(`## ${version} `)) throw new Error(`CHANGELOG.md has ${version} already`)
  return `${before}## Unreleased\n\n## ${version} (${day})\n${after}`
}

function listManifests() {
  return ['packages', 'examples'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .map((name) => join(ROOT, folder, name, 'package.json'))
      .filter((path) => existsSync(path)),
  )
}

function release(version) {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? '')) {
    throw new Error(`'${version ?? ''}' is no version: npm run release -- 0.2.0`)
  }
  const changelog = join(ROOT, 'CHANGELOG.md')
  const day = new Date().toISOString().slice(0, 10)
  const closed = closeUnreleased(readFileSync(changelog, 'utf8'), version, day)
  const manifests = listManifests().map((path) => [path, JSON.parse(readFileSync(path, 'utf8'))])
  const ours = manifests.map(([, { name }]) => name)
  for (const [path, manifest] of manifests) {
    writeFileSync(path, `${JSON.stringify(withVersion(manifest, version, ours), null, 2)}\n`)
  }
  writeFileSync(changelog, closed)
  execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  console.log(`Look at git diff, then:

git commit -am 'chore: release ${version}'
git tag v${version}
git push origin main v${version}`)
}

if (import.meta.filename === process.argv[1]) {
  try {
    release(process.argv[2])
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
