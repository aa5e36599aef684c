// npm run check:docs: checks that every public name and each of its members has a documentation
// comment.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

function listPackages() {
  return readdirSync(join(ROOT, 'packages')).filter((name) =>
    existsSync(join(ROOT, 'packages', name, 'package.json')),
  )
}

/**
 * Maps the entry points of `exports` to sources, such as `./dist/testing/index.d.ts` to
 * `src/testing/index.ts`.
 */
export function entryPoints(folder) {
  const { exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return Object.values(exports)
    .map((target) => target.import?.types ?? target.types)
    .filter((path) => path !== undefined)
    .map((path) => join(folder, path.replace('./dist/', 'src/').replace(/\.d\.ts$/, '.ts')))
    .map((path) => (existsSync(path) ? path : `${path}x`))
}

function createProgram(folder, files) {
  const config = ts.readConfigFile(join(folder, 'tsconfig.json'), (path) =>
    readFileSync(path, 'utf8'),
  )
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, folder)
  return ts.createProgram(files, { ...options, noEmit: true, composite: false, incremental: false })
}

const isHidden = (declaration) =>
  (ts.getCombinedModifierFlags(declaration) &
    (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) !==
    0 ||
  (declaration.name !== undefined && ts.isPrivateIdentifier(declaration.name))

/** Lists the visible members of interfaces, classes and object types. */
function membersOf(declaration) {
  if (ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration))
    return declaration.members
  if (!ts.isTypeAliasDeclaration(declaration)) return []
  const parts = ts.isIntersectionTypeNode(declaration.type)
    ? declaration.type.types
    : [declaration.type]
  return parts.filter(ts.isTypeLiteralNode).flatMap((part) => [...part.members])
}

/** Finds the public names of one package without documentation, as `src/file.ts:12 Name.member`. */
export function findUndocumented(folder, files = entryPoints(folder)) {
  const program = createProgram(folder, files)
  const checker = program.getTypeChecker()
  const sources = resolve(folder, 'src')
  const seen = new Set()
  const missing = new Set()
  const hasDoc = (symbol) => symbol.getDocumentationComment(checker).length > 0
  const isCommented = ({ declarations: [named] }) => /^\s*\/\*\*/.test(named.parent.getFullText())
  const place = (declaration) => {
    const file = declaration.getSourceFile()
    const { line } = file.getLineAndCharacterOfPosition(declaration.getStart())
    return `${relative(ROOT, file.fileName)}:${line + 1}`
  }
  for (const file of files) {
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    if (!module) throw new Error(`${file} exports nothing`)
    for (const exported of checker.getExportsOfModule(module)) {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported
      if (seen.has(symbol)) continue
      seen.add(symbol)
      const own = (symbol.declarations ?? []).filter((each) =>
        each.getSourceFile().fileName.startsWith(sources),
      )
      const [first] = own
      if (!first) continue
      // A namespace has no declaration: its documentation is on its export.
      const isSaid = hasDoc(symbol) || (ts.isSourceFile(first) && isCommented(exported))
      if (!isSaid) missing.add(`${place(first)} ${exported.name}`)
      for (const declaration of own) {
        for (const member of membersOf(declaration)) {
          if (member.name === undefined || isHidden(member)) continue
          // An overriding member inherits the documentation.
          if (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Override) continue
          const inner = checker.getSymbolAtLocation(member.name)
          if (inner && !hasDoc(inner)) {
            missing.add(`${place(member)} ${exported.name}.${inner.name}`)
          }
        }
      }
    }
  }
  return [...missing]
}

if (import.meta.filename === process.argv[1]) {
  const chosen = process.argv.slice(2)
  const names = chosen.length > 0 ? chosen : listPackages()
  let failed = false
  for (const name of names) {
    const missing = findUndocumented(join(ROOT, 'packages', name))
    console.log(
      `packages/${name}: ${missing.length === 0 ? 'all said' : `${missing.length} without a word`}`,
    )
    for (const line of missing) console.log(`  ${line}`)
    failed ||= missing.length > 0
  }
  process.exitCode = failed ? 1 : 0
}
