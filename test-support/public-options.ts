import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const ROOT = path('../')
const OAUTH = path('../packages/oauth/src/index.ts')
const BILLING = path('../packages/billing/src/index.ts')

/** An option of a library, read from its public types. */
export interface PublicOption {
  /**
   * The names that lead to the option. The first is `oauth` for options of
   * `createAuthorizationServer()`, `billing` for those of `createBilling()`, and otherwise the
   * function that takes the option, such as `dpop`.
   */
  readonly path: string
  /** Lists the options inside this one, if its value is an object or a list of objects. */
  members(): PublicOption[]
  /** Whether the value is one object, so that its members can be set one by one. */
  readonly isObject: boolean
  /** Whether the value is a function, or an object or a list that has some. */
  readonly hasFunctions: boolean
}

/** Lists every option of both libraries, and every function that makes a grant or a feature. */
export function readPublicOptions(): PublicOption[] {
  const program = ts.createProgram([OAUTH, BILLING], {
    ...COMPILER,
    paths: {
      '@tollgate/http/outgoing': ['./packages/http/src/outgoing/index.ts'],
      '@tollgate/*': ['./packages/*/src/index.ts'],
    },
    baseUrl: ROOT,
  })
  const checker = program.getTypeChecker()
  const exportsOf = (file: string) => {
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    if (!module) throw new Error(`${file} cannot be read`)
    return checker.getExportsOfModule(module).map((symbol) => ({
      name: symbol.name,
      target: symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    }))
  }
  const optionsOf = (file: string, name: string, first: string) => {
    const found = exportsOf(file).find((each) => each.name === name)
    if (!found) throw new Error(`${file} does not export ${name}`)
    return membersOf(checker, [checker.getDeclaredTypeOfSymbol(found.target)], first)
  }
  return [
    ...optionsOf(OAUTH, 'AuthorizationServerOptions', 'oauth'),
    ...exportsOf(OAUTH).flatMap(({ name, target }) => offered(checker, name, target)),
    ...optionsOf(BILLING, 'BillingOptions', 'billing'),
  ]
}

const COMPILER: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: ['node'],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
}

/** An exported function that returns a `Grant` or a `Feature`, with its options. */
function offered(checker: ts.TypeChecker, name: string, symbol: ts.Symbol): PublicOption[] {
  const declaration = symbol.valueDeclaration
  if (!declaration || !ts.isFunctionDeclaration(declaration)) return []
  const [signature] = checker.getTypeOfSymbol(symbol).getCallSignatures()
  const result = signature?.getReturnType().symbol?.name ?? ''
  if (!signature || !['Grant', 'Feature'].includes(result)) return []
  const [options] = signature.getParameters()
  const types = options ? [checker.getNonNullableType(checker.getTypeOfSymbol(options))] : []
  const members = () => membersOf(checker, types, name)
  return [{ path: name, members, isObject: false, hasFunctions: true }, ...members()]
}

function membersOf(
  checker: ts.TypeChecker,
  types: readonly ts.Type[],
  path: string,
): PublicOption[] {
  const found = new Map<string, ts.Type[]>()
  for (const type of types.flatMap((each) => objectsIn(checker, each))) {
    for (const property of checker.getPropertiesOfType(type)) {
      const others = found.get(property.name) ?? []
      found.set(property.name, [
        ...others,
        checker.getNonNullableType(checker.getTypeOfSymbol(property)),
      ])
    }
  }
  return [...found].map(([name, values]) => ({
    path: `${path}.${name}`,
    members: () => membersOf(checker, values, `${path}.${name}`),
    isObject: values.flatMap(partsOf).some((part) => isOurObject(checker, part)),
    hasFunctions: values.some((value) => hasFunctions(checker, value)),
  }))
}

/** The types of our packages' objects that a value can have, alone or in a list. */
function objectsIn(checker: ts.TypeChecker, type: ts.Type): ts.Type[] {
  return partsOf(type).flatMap((part) => {
    if (isOurObject(checker, part)) return [part]
    const [element] = isList(checker, part) ? checker.getTypeArguments(part) : []
    return element ? objectsIn(checker, element) : []
  })
}

/** Whether a value of the type is a function, or holds one at a depth of at most `depth`. */
function hasFunctions(checker: ts.TypeChecker, type: ts.Type, depth = 2): boolean {
  return partsOf(checker.getNonNullableType(type)).some((part) => {
    if (part.getCallSignatures().length > 0) return true
    if (depth === 0) return false
    if (isList(checker, part)) {
      return checker.getTypeArguments(part).some((each) => hasFunctions(checker, each, depth))
    }
    return objectsIn(checker, part)
      .flatMap((object) => checker.getPropertiesOfType(object))
      .some((property) => hasFunctions(checker, checker.getTypeOfSymbol(property), depth - 1))
  })
}

const partsOf = (type: ts.Type): readonly ts.Type[] => (type.isUnion() ? type.types : [type])

const isList = (checker: ts.TypeChecker, type: ts.Type): type is ts.TypeReference =>
  checker.isArrayType(type)

/** Whether the type is an object whose members are all declared in our packages. */
function isOurObject(checker: ts.TypeChecker, type: ts.Type): boolean {
  if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return false
  if (checker.isArrayType(type) || type.getCallSignatures().length > 0) return false
  const properties = checker.getPropertiesOfType(type)
  return properties.length > 0 && properties.every(isDeclaredHere)
}

function isDeclaredHere(symbol: ts.Symbol): boolean {
  const files = (symbol.declarations ?? []).map((node) => node.getSourceFile().fileName)
  return files.some((file) => file.startsWith(ROOT) && !file.includes('node_modules'))
}
