// npm run docs:api: generates the API reference of all packages from their JSDoc, as HTML in
// docs/api (not committed). Fails on a broken {@link}. --check writes nothing.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, Converter } from 'typedoc'
import { entryPoints } from './check-docs.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PACKAGES = join(ROOT, 'packages')

/** Packages in the order in which a reader needs them. */
const ORDER = ['oauth', 'billing', 'gate', 'invoices', 'sandbox', 'server', 'database', 'http']

const folders = readdirSync(PACKAGES).filter((name) =>
  existsSync(join(PACKAGES, name, 'package.json')),
)
const unlisted = folders.filter((name) => !ORDER.includes(name))
if (unlisted.length > 0) throw new Error(`Add ${unlisted.join(', ')} to ORDER in docs-api.mjs`)

/** Names each entry point by its import path, such as `@tollgate/oauth/express`. */
function importNames(name) {
  const folder = join(PACKAGES, name)
  const { name: packageName, exports } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  const paths = Object.keys(exports).filter((path) => !path.endsWith('.json'))
  return entryPoints(folder).map((file, at) => [file, packageName + paths[at].slice(1)])
}

const names = new Map(ORDER.flatMap(importNames))
const app = await Application.bootstrap({
  name: 'Tollgate',
  readme: join(ROOT, 'docs/reference/api.md'),
  entryPoints: [...names.keys()],
  tsconfig: join(ROOT, 'tsconfig.docs.json'),
  // `npm run types` checks them.
  skipErrorChecking: true,
  excludeInternal: true,
  excludePrivate: true,
  excludeProtected: true,
  excludeExternals: true,
  // Links to lines would need the URL of the repository and a commit.
  disableSources: true,
  sort: ['kind', 'alphabetical'],
  sortEntryPoints: false,
  categorizeByGroup: false,
  navigation: { includeGroups: true },
  hideGenerator: true,
  // `npm run check:docs` finds missing documentation.
  validation: { invalidLink: true, invalidPath: true, notExported: false, notDocumented: false },
})

// Print return types as they are written: TypeDoc would expand computed ones, such as
// BraintreeBilling, over a hundred screens.
app.converter.on(Converter.EVENT_CREATE_SIGNATURE, (context, signature, declaration) => {
  const written = declaration?.type
  if (written) signature.type = app.converter.convertType(context, written)
})

const project = await app.convert()
if (!project) process.exit(1)
const modules = project.children ?? []
if (modules.length !== names.size) throw new Error('An entry point is missing from the reference')
for (const [at, name] of [...names.values()].entries()) modules[at].name = name
app.validate(project)
if (!process.argv.includes('--check')) await app.generateDocs(project, join(ROOT, 'docs/api'))
const { errorCount, warningCount } = app.logger
console.log(`${names.size} entry points: ${errorCount} errors, ${warningCount} warnings`)
process.exitCode = errorCount + warningCount > 0 ? 1 : 0
