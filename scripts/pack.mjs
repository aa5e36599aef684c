// npm run pack: creates a .tgz of each package, to install in another project before they are
// published on npm.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { buildAllCommonJs } from './build-commonjs.mjs'
import { prepare } from './prepare.mjs'

/** Packs every package into `folder`. Returns the files. */
export function packInto(folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const packages = readdirSync('packages')
    .map((name) => `./packages/${name}`)
    .filter((path) => existsSync(`${path}/package.json`))
  buildAllCommonJs('packages')
  execFileSync('npm', ['pack', ...packages, '--silent', '--pack-destination', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return readdirSync(folder).map((name) => join(folder, name))
}

/**
 * For each use: our packages, which are not on npm, so that their own dependencies among us must be
 * named, too; packages from npm; and a flag.
 */
const INSTALLS = [
  ['The OAuth server:', ['oauth', 'database', 'http'], 'libsql'],
  [
    'The OAuth server and billing on Stripe:',
    ['oauth', 'billing', 'database', 'http'],
    'stripe libsql',
  ],
  ['Also, for invoices as PDF:', ['invoices'], ''],
  ['Also, for tests of billing:', ['sandbox'], 'braintree', '-D'],
]

/** Returns the command that installs packed packages, and others from npm, in another project. */
function installLine(files, names, fromNpm, flag) {
  const packed = names.map((name) =>
    files.find((file) => basename(file).startsWith(`tollgate-${name}-`)),
  )
  return ['npm install', flag, ...packed, fromNpm].filter(Boolean).join(' ')
}

if (import.meta.filename === process.argv[1]) {
  process.exitCode = await prepare()
  if (process.exitCode === 0) {
    const files = packInto(resolve('tarballs'))
    const program = resolve('packages/server/bin/tollgate.js')
    console.log(
      '\nTo add Tollgate to your project with all that it needs, run this in its folder:\n',
    )
    console.log(`node ${program} init --tarballs ${resolve('tarballs')}\n`)
    console.log(
      'Or install the packages yourself with one of these lines. `libsql` is the driver for SQLite:',
    )
    console.log('replace it with `pg` for Postgres, or `mysql2` for MariaDB or MySQL.\n')
    for (const [use, ...parts] of INSTALLS) console.log(`${use}\n${installLine(files, ...parts)}\n`)
  }
}
