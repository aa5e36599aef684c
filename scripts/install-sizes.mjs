// npm run install-sizes: measures the size of each package. Installs the packed packages in empty
// folders, each with its required dependencies, and prints megabytes and the number of packages.
// docs/reference/packages.md has the table.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { packInto } from './pack.mjs'
import { prepare } from './prepare.mjs'

/**
 * Packages to install, with their users. `npm install` needs our own packages as files, so all of
 * them have to be named.
 */
const INSTALLS = [
  ['@tollgate/http', ['http']],
  ['@tollgate/database', ['database']],
  ['@tollgate/database libsql', ['database', 'libsql']],
  ['@tollgate/oauth @tollgate/database', ['oauth', 'database', 'http']],
  ['@tollgate/billing @tollgate/database stripe', ['billing', 'database', 'http', 'stripe']],
  [
    '@tollgate/billing @tollgate/invoices @tollgate/database stripe',
    ['billing', 'invoices', 'database', 'http', 'stripe'],
  ],
  ['@tollgate/sandbox', ['sandbox', 'http']],
  [
    'tollgate (the service)',
    ['server', 'oauth', 'billing', 'gate', 'invoices', 'sandbox', 'database', 'http'],
  ],
]

const folder = mkdtempSync(join(tmpdir(), 'tollgate-sizes-'))

function sizeOf(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

function measure(parts, tarballs, number) {
  const home = join(folder, String(number))
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{ "private": true }\n')
  const named = (part) =>
    tarballs.find((file) =>
      basename(file).startsWith(part === 'server' ? 'tollgate-0' : `tollgate-${part}-`),
    )
  const wanted = parts.flatMap((part) => named(part) ?? (part === 'invoices' ? [] : [part]))
  const flags = ['--silent', '--no-audit', '--no-fund', '--prefer-offline', '--omit=dev']
  execFileSync('npm', ['install', ...flags, ...wanted], { cwd: home, stdio: 'inherit' })
  const lock = JSON.parse(
    execFileSync('npm', ['ls', '--all', '--json', '--silent'], { cwd: home, encoding: 'utf8' }),
  )
  const names = new Set()
  const collect = ({ dependencies = {} }) => {
    for (const [name, entry] of Object.entries(dependencies)) {
      if (entry.version) names.add(name)
      collect(entry)
    }
  }
  collect(lock)
  return { megabytes: sizeOf(join(home, 'node_modules')) / 1e6, packages: names.size }
}

process.exitCode = await prepare()
if (process.exitCode === 0) {
  try {
    const tarballs = packInto(join(folder, 'tarballs'))
    console.log('| npm install | MB | packages |\n|---|---|---|')
    for (const [index, [title, parts]] of INSTALLS.entries()) {
      const { megabytes, packages } = measure(parts, tarballs, index)
      console.log(`| \`${title}\` | ${megabytes.toFixed(1)} | ${packages} |`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
