// npm run check:workflows: checks that workflows call only scripts and test projects that exist,
// and that they can install the locked packages (`npm ci`) on every platform. Also runs actionlint
// if it is installed (https://github.com/rhysd/actionlint).
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = '.github/workflows'

/** Finds what a workflow calls although this repository does not have it. */
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

/**
 * Whether the lock file has a package where Node would find it: beside the importing one, or in a
 * parent folder.
 */
function isLocked(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/'))) {
    if (packages[`${folder}${folder && '/'}node_modules/${name}`]) return true
    if (!folder.includes('/')) return Boolean(packages[`node_modules/${name}`])
  }
}

/**
 * Finds reasons for which `npm ci` would reject a lock file, or use another registry than the
 * reader's. If `node_modules` exists, npm writes only the binaries of its own platform to the lock
 * file, which then differs on other platforms.
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

/** Finds packages of ours whose dependencies differ from those in the lock file. */
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

/** Reads the names of test projects from `vitest.config.ts`. */
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
