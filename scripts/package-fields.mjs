// npm run sync:packages: copies the fields that all packages share from the root's package.json.
// With --check it only compares. The repository's URL has a single source, `repository` in the
// root.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))

/** `git+https://github.com/OWNER/tollgate.git` → `https://github.com/OWNER/tollgate` */
export function addressOf({ repository }) {
  return repository.url.replace(/^git\+/, '').replace(/\.git$/, '')
}

/** Files that cannot use a relative link: a page on GitHub, and alerts that people get elsewhere. */
const WITH_ADDRESS = ['.github/ISSUE_TEMPLATE/config.yml', 'deploy/prometheus/alerts.yaml']

function withAddress(text, root) {
  return text.replaceAll(/https:\/\/github\.com\/[\w.-]+\/[\w.-]+/g, addressOf(root))
}

/** Returns the fields that the package in this folder must have, derived from the root. */
export function commonFields(root, folder) {
  const address = addressOf(root)
  return {
    license: root.license,
    repository: { ...root.repository, directory: folder },
    homepage: `${address}/tree/main/${folder}#readme`,
    bugs: { url: `${address}/issues` },
    engines: root.engines,
    publishConfig: { access: 'public', provenance: true },
  }
}

/** Returns the manifest with these fields, new ones after the license. */
function withFields(manifest, fields) {
  const entries = Object.entries(manifest).flatMap(([name, value]) => {
    if (name === 'license') return Object.entries(fields)
    return name in fields ? [] : [[name, value]]
  })
  return Object.fromEntries(entries)
}

function listPackages() {
  return readdirSync(join(ROOT, 'packages'))
    .map((name) => `packages/${name}`)
    .filter((folder) => existsSync(join(ROOT, folder, 'package.json')))
}

/**
 * Finds packages whose fields differ from the root's, or that lack keywords, description or README.
 */
export function findProblems(root = read('package.json')) {
  const foreign = WITH_ADDRESS.filter((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    return text !== withAddress(text, root)
  }).map((path) => `${path}: another repository, run npm run sync:packages`)
  const packages = listPackages().flatMap((folder) => {
    const manifest = read(`${folder}/package.json`)
    const wrong = Object.entries(commonFields(root, folder))
      .filter(([name, value]) => JSON.stringify(manifest[name]) !== JSON.stringify(value))
      .map(([name]) => `${folder}: ${name} differs, run npm run sync:packages`)
    const missing = ['description', 'keywords'].filter((name) => !manifest[name]?.length)
    const files = ['README.md', 'LICENSE'].filter((name) => !existsSync(join(ROOT, folder, name)))
    return [...wrong, ...[...missing, ...files].map((name) => `${folder}: no ${name}`)]
  })
  return [...packages, ...foreign]
}

if (import.meta.filename === process.argv[1]) {
  if (!process.argv.includes('--check')) {
    const root = read('package.json')
    for (const path of WITH_ADDRESS) {
      const text = readFileSync(join(ROOT, path), 'utf8')
      writeFileSync(join(ROOT, path), withAddress(text, root))
    }
    for (const folder of listPackages()) {
      const manifest = withFields(read(`${folder}/package.json`), commonFields(root, folder))
      const text = `${JSON.stringify(manifest, null, 2)}\n`
      writeFileSync(join(ROOT, folder, 'package.json'), text)
    }
  }
  const problems = findProblems()
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length === 0 ? 0 : 1
}
