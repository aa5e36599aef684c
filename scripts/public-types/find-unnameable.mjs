import { sep } from 'node:path'
import ts from 'typescript'

const OPTIONS = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  skipLibCheck: true,
  lib: ['lib.es2022.d.ts'],
  types: [],
  noEmit: true,
}

/**
 * Finds types that a public signature names and that cannot be imported. `packages` are ours: each
 * with the folder of its declarations, and the declarations that it publishes.
 */
export function findUnnameable(packages) {
  const program = ts.createProgram({
    rootNames: packages.flatMap(({ entries }) => entries),
    options: OPTIONS,
  })
  const checker = program.getTypeChecker()
  const published = new Map()
  const values = new Set()
  for (const { entries } of packages) {
    for (const entry of entries) {
      for (const symbol of exportsOf(program.getSourceFile(entry), checker)) {
        const original = unaliased(symbol, checker)
        published.set(original, `${symbol.name} of ${entry}`)
        if (!isTypeOnly(symbol)) values.add(original)
      }
    }
  }
  const isOurs = (file) => packages.some(({ folder }) => file.startsWith(folder + sep))
  const faults = new Set()
  for (const [symbol, name] of published) {
    for (const declaration of symbol.declarations ?? []) {
      if (!isOurs(declaration.getSourceFile().fileName)) continue
      for (const { symbol: named, text } of namedTypes(declaration, checker, values.has(symbol))) {
        const home = named.declarations?.[0]?.getSourceFile().fileName
        if (!home || !isOurs(home) || published.has(named)) continue
        faults.add(`${name} names ${text}, which nobody can import`)
      }
    }
  }
  return [...faults].sort()
}

function exportsOf(file, checker) {
  const module = file && checker.getSymbolAtLocation(file)
  if (!module) throw new Error('An entry point has no declarations: build first')
  return checker.getExportsOfModule(module)
}

function unaliased(symbol, checker) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

/**
 * Whether a symbol is exported by `export type { Invoice }`, so that its constructor cannot be
 * called.
 */
function isTypeOnly(symbol) {
  return (symbol.declarations ?? []).some(
    (each) => ts.isExportSpecifier(each) && (each.isTypeOnly || each.parent.parent.isTypeOnly),
  )
}

/**
 * Lists the types that a signature names. Private members, type parameters and constructors that
 * cannot be called do not count. A type derived from a value (`typeof table`) names the types in
 * the value's own type.
 */
function namedTypes(declaration, checker, canBeConstructed) {
  const found = []
  const values = new Set()
  const visit = (node) => {
    if (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private) return
    if (ts.isConstructorDeclaration(node) && !canBeConstructed) return
    const name = nameIn(node)
    const symbol = name && symbolToImport(name, checker)
    // For `extends defineError('…')` the compiler generates a name for the base class, whose own
    // types count.
    const base = ts.isExpressionWithTypeArguments(node) ? symbol?.valueDeclaration : undefined
    if (base && ts.isVariableDeclaration(base)) visit(base)
    else if (symbol) {
      const named = unaliased(symbol, checker)
      const value = ts.isTypeQueryNode(node) ? named.valueDeclaration : undefined
      if (value && ts.isVariableDeclaration(value)) {
        if (values.has(value)) return
        values.add(value)
        return visit(value)
      }
      const isType = (named.flags & ts.SymbolFlags.TypeParameter) === 0
      if (isType) found.push({ symbol: named, text: name.getText() })
    }
    node.forEachChild(visit)
  }
  visit(declaration)
  return found
}

function nameIn(node) {
  if (ts.isTypeReferenceNode(node)) return node.typeName
  if (ts.isExpressionWithTypeArguments(node)) return node.expression
  if (ts.isTypeQueryNode(node)) return node.exprName
  if (ts.isImportTypeNode(node)) return node.qualifier
  return undefined
}

/**
 * Returns the symbol that has to be imported: `Stripe` for `Stripe.Invoice`, but `Line` for
 * `invoices.Line` after `import * as invoices`.
 */
function symbolToImport(name, checker) {
  const [first, second] = partsOf(name)
  const symbol = checker.getSymbolAtLocation(first)
  const isFile = symbol && unaliased(symbol, checker).declarations?.some(ts.isSourceFile)
  return isFile && second ? checker.getSymbolAtLocation(second) : symbol
}

function partsOf(name) {
  if (ts.isQualifiedName(name)) return [...partsOf(name.left), name.right]
  return ts.isPropertyAccessExpression(name) ? [...partsOf(name.expression), name.name] : [name]
}
