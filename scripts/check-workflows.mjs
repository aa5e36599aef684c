// npm run check:workflows: do the workflows call scripts and test projects that exist? Where actionlint is
// installed (https://github.com/rhysd/actionlint), it looks at them as well.
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
    if (/^(main|master|latest)$/.test(version)) missing.push(`${action}@${version}: name a version`)
  }
  if (!/^permissions:/m.test(workflow)) missing.push('no permissions at the top: it would have all')
  return missing
}

/** The names of test projects, as `vitest.config.ts` gives them. */
export function readProjects() {
  const config = readFileSync(join(ROOT, 'vitest.config.ts'), 'utf8')
  return [...config.matchAll(/(?:name: |createFlows\()'(\w+)'/g)].map(([, name]) => name)
}

export function checkWorkflows() {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const known = { scripts, projects: readProjects() }
  return readdirSync(join(ROOT, FOLDER)).flatMap((name) =>
    findMissing(readFileSync(join(ROOT, FOLDER, name), 'utf8'), known).map(
      (problem) => `${FOLDER}/${name}: ${problem}`,
    ),
  )
}

if (import.meta.filename === process.argv[1]) {
  const problems = checkWorkflows()
  for (const problem of problems) console.error(problem)
  const { status, error } = spawnSync('actionlint', [], { cwd: ROOT, stdio: 'inherit' })
  if (error) console.log('actionlint is not installed: only what our own check sees was looked at')
  process.exitCode = problems.length > 0 || (status ?? 0) !== 0 ? 1 : 0
}
