// npm run check:gift: adds a feature to billing in a copy of the repository, as
// docs/contributing/add-a-billing-feature.md describes. Applies scripts/gift/gift.patch, counts the
// lines that it changes outside of its own folder, and runs types, rooms and the tests of the
// feature. Fails if the patch no longer applies or changes more than three lines elsewhere.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MOST_LINES_ELSEWHERE = 3
const FOLDER = 'packages/billing/src/features/gifts/'

const root = fileURLToPath(new URL('..', import.meta.url))
const patch = join(root, 'scripts/gift/gift.patch')
const copy = mkdtempSync(join(tmpdir(), 'tollgate-gift-'))
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' })
for (const file of git('ls-files', '-co', '--exclude-standard').trim().split('\n')) {
  cpSync(join(root, file), join(copy, file), { recursive: true })
}
// Packages are linked by relative paths, so the copy needs its own links.
cpSync(join(root, 'node_modules/@tollgate'), join(copy, 'node_modules/@tollgate'), {
  recursive: true,
  verbatimSymlinks: true,
})
linkModules()

const inCopy = { cwd: copy, stdio: 'inherit' }
execFileSync('git', ['apply', patch], {
  ...inCopy,
  env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(copy) },
})

const changed = execFileSync('git', ['apply', '--numstat', patch], { cwd: root, encoding: 'utf8' })
const elsewhere = changed
  .trim()
  .split('\n')
  .map((line) => line.split('\t'))
  .filter(([, , path]) => !path.startsWith(FOLDER))
const lines = elsewhere.reduce((sum, [added, removed]) => sum + Number(added) + Number(removed), 0)
console.log(`One new folder, ${FOLDER}, and ${lines} changed lines elsewhere:`)
for (const [added, removed, path] of elsewhere) console.log(`  +${added} -${removed}  ${path}`)
if (lines > MOST_LINES_ELSEWHERE) fail(`More than ${MOST_LINES_ELSEWHERE} lines elsewhere`)

run('node', 'scripts/tsc.mjs', '-b')
run('node', 'scripts/check-rooms.mjs')
run('npx', 'vitest', 'run', '--project', 'sqlite', FOLDER)
run(
  'npx',
  'vitest',
  'run',
  '--project',
  'slow',
  'packages/billing/test/gateway-contract',
  '-t',
  'a gift subscription',
)
console.log('The feature is there, and its tests pass')

function run(command, ...args) {
  console.log(`\n$ ${[command, ...args].join(' ')}`)
  const { status } = spawnSync(command, args, inCopy)
  if (status !== 0) fail(`${command} ${args.join(' ')} failed`)
}

function linkModules() {
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name === '@tollgate' || name === '.cache' || name === '.vite') continue
    symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name))
  }
  // Packages that npm did not place at the top.
  for (const name of readdirSync(join(root, 'packages'))) {
    const own = join('packages', name, 'node_modules')
    if (existsSync(join(root, own))) symlinkSync(join(root, own), join(copy, own))
  }
}

function fail(why) {
  console.error(why)
  process.exit(1)
}
