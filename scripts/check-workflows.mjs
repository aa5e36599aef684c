// npm run check:workflows: do the workflows call scripts and test projects that exist, and can they install what is
// locked (`npm ci`), on every platform? Where actionlint is installed (https://github.com/rhysd/actionlint), it looks at them as well.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = '.github/workflows'

/** What a workflow calls and this repository does not have. */
export function findMissing(workflow, { scripts, projects }) {
  const missing = []
  for (const [, name] of workflow.matchAll(/\bnpm run ([\w:-]+)/g)) {
    if (!(name in scripts)) missing.push(`npm run ${name}: no such script`)
  }
  for (const [, name] of workflow.matchAll(/--project[ =](\w+)/g)) {
    if (!projects.includes(name)) missing.push(`--project ${name}: no such project`)
  }
  for (const [, path] of workflow.matchAll(/\bnode ((?:scripts|bench)\/[\w./-]+)/g)) {
    if (!existsSync(join(ROOT, path))) missing.push(`node ${path}: no such file`)
  }
  for (const [, action, version] of workflow.matchAll(/\buses: *([\w./-]+)@(\S+)/g)) {
    // A tag can be moved to other code; a commit cannot.
    if (!/^[0-9a-f]{40}$/.test(version)) missing.push(`${action}@${version}: name a commit`)
  }
  if (!/^permissions:/m.test(workflow)) missing.push('no permissions at the top: it would have all')
  return missing
}

/** Where Node would find it from there: beside it, or in a folder further up. */
function isLocked(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/'))) {
    if (packages[`${folder}${folder && '/'}node_modules/${name}`]) return true
    if (!folder.includes('/')) return Boolean(packages[`node_modules/${name}`])
  }
}

/**
 * Why `npm ci` would refuse a lock file, or ask another registry than the reader's own. npm writes only the binaries of
 * its own platform when `node_modules` is there already: whoever has another platform gets another lock file.
 */
export function findLockProblems({ packages }) {
  return Object.entries(packages).flatMap(([path, entry]) => {
    const wanted = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
    const missing = wanted.filter((name) => !isLocked(packages, path, name))
    const where = path || 'the root'
    return [
      ...missing.map((name) => `${where} wants ${name}, which is not there`),
      ...(/^https?:/.test(entry.resolved ?? '') ? [`${where} names a registry`] : []),
    ]
  })
}

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']

/** Packages of ours that ask for something else than the lock file was made for. */
export function findChanged({ packages }, readManifest) {
  return Object.keys(packages)
    .filter((path) => !path.includes('node_modules/'))
    .filter((path) => {
      const manifest = readManifest(path)
      const listed = (from) => KINDS.map((kind) => Object.entries(from[kind] ?? {}).sort())
      return JSON.stringify(listed(manifest)) !== JSON.stringify(listed(packages[path]))
    })
    .map((path) => `${path || 'the root'} wants other versions: npm install --package-lock-only`)
}

function checkLocks() {
  const read = (path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
  return ['.', 'bench'].flatMap((folder) => {
    const lock = read(`${folder}/package-lock.json`)
    const changed = findChanged(lock, (path) => read(join(folder, path, 'package.json')))
    return [...findLockProblems(lock), ...changed].map(
      (problem) => `${join(folder, 'package-lock.json')}: ${problem}`,
    )
  })
}

/** The names of test projects, as `vitest.config.ts` gives them. */
export function readProjects() {
  const config = readFileSync(join(ROOT, 'vitest.config.ts'), 'utf8')
  return [...config.matchAll(/(?:name: |createFlows\()'(\w+)'/g)].map(([, name]) => name)
}

export function checkWorkflows() {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const known = { scripts, projects: readProjects() }
  const missing = readdirSync(join(ROOT, FOLDER)).flatMap((name) =>
    findMissing(readFileSync(join(ROOT, FOLDER, name), 'utf8'), known).map(
      (problem) => `${FOLDER}/${name}: ${problem}`,
    ),
  )
  return [...missing, ...checkLocks()]
}

if (import.meta.filename === process.argv[1]) {
  const problems = checkWorkflows()
  for (const problem of problems) console.error(problem)
  const { status, error } = spawnSync('actionlint', [], { cwd: ROOT, stdio: 'inherit' })
  if (error) console.log('actionlint is not installed: only what our own check sees was looked at')
  process.exitCode = problems.length > 0 || (status ?? 0) !== 0 ? 1 : 0
}
