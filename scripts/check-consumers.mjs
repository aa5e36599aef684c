// npm run check:consumers: installs the packed packages in small applications with nothing that
// they do not use, and compiles these with every declaration checked: one provider only, one
// framework only, no sandbox, CommonJS.
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packInto } from './pack.mjs'
import { prepare } from './prepare.mjs'
import { run, sideBySide } from './side-by-side.mjs'

const CONSUMERS = 'scripts/consumers'
const folder = mkdtempSync(join(tmpdir(), 'tollgate-consumers-'))

/** Most dependencies were already downloaded for this repository, so npm has them in its cache. */
const INSTALL = ['install', '--silent', '--no-audit', '--prefer-offline']

/** Applications that are also run. */
const RUN = ['commonjs', 'provider-author']

async function check(name, libraries) {
  const tarballs = libraries.filter(
    (file) => name === 'commonjs' || !/-(sandbox|invoices)-/.test(file),
  )
  const cwd = join(folder, name)
  cpSync(join(CONSUMERS, name), cwd, { recursive: true })
  const steps = [
    ['npm install', 'npm', [...INSTALL, ...tarballs]],
    ['tsc, with every declaration checked', 'node_modules/.bin/tsc', ['-p', '.']],
    ...(RUN.includes(name) ? [['node', process.execPath, ['index.js']]] : []),
  ]
  for (const [title, command, args] of steps) {
    if (!(await run(`${name}: ${title}`, command, args, { cwd }))) return false
  }
  return true
}

process.exitCode = await prepare()
if (process.exitCode === 0) {
  try {
    // The service is a program and no package depends on it.
    const libraries = packInto(join(folder, 'tarballs')).filter((file) =>
      /tollgate-(oauth|billing|database|http|invoices|sandbox)-/.test(file),
    )
    const consumers = readdirSync(CONSUMERS)
    const failed = await sideBySide(consumers.map((name) => () => check(name, libraries)))
    console.log(
      failed === 0 ? 'Everybody can use the packages' : `${failed} cannot use the packages`,
    )
    process.exitCode = failed === 0 ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
