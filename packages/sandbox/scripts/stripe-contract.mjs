// Reads the installed `stripe` package's type declarations with the TypeScript compiler.
// Used to generate src/stripe/wire/contract.generated.ts and, in tests, to check responses against it.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import ts from 'typescript'

/**
 * The resources that the sandbox supports or will support, as file names in the package's
 * `resources/`. The supported calls are those in src/stripe/resources/registry.ts.
 */
const RESOURCES = [
  'Accounts',
  'ApplicationFees',
  'Balance',
  'BalanceTransactions',
  'Billing/Alerts',
  'Billing/MeterEventAdjustments',
  'Billing/MeterEvents',
  'Billing/Meters',
  'BillingPortal/Configurations',
  'BillingPortal/Sessions',
  'Charges',
  'Checkout/Sessions',
  'Coupons',
  'CreditNotes',
  'Customers',
  'Disputes',
  'Entitlements/ActiveEntitlements',
  'Entitlements/Features',
  'Events',
  'FileLinks',
  'Files',
  'InvoiceItems',
  'InvoicePayments',
  'Invoices',
  'PaymentIntents',
  'PaymentLinks',
  'PaymentMethodConfigurations',
  'PaymentMethodDomains',
  'PaymentMethods',
  'Payouts',
  'Plans',
  'Prices',
  'Products',
  'PromotionCodes',
  'Quotes',
  'Radar/EarlyFraudWarnings',
  'Refunds',
  'Reviews',
  'SetupIntents',
  'ShippingRates',
  'Sources',
  'SubscriptionItems',
  'SubscriptionSchedules',
  'Subscriptions',
  'TaxCodes',
  'TaxIds',
  'TaxRates',
  'TestHelpers/TestClocks',
  'Tokens',
  'Topups',
  'Transfers',
  'WebhookEndpoints',
]

/**
 * Resources of which only the reading calls are included: creating them is another product with
 * long types.
 */
const READ_ONLY = new Set([
  'Accounts',
  'ApplicationFees',
  'Billing/Alerts',
  'Entitlements/ActiveEntitlements',
  'Entitlements/Features',
  'FileLinks',
  'Files',
  'PaymentLinks',
  'PaymentMethodConfigurations',
  'PaymentMethodDomains',
  'Payouts',
  'Quotes',
  'Radar/EarlyFraudWarnings',
  'Reviews',
  'ShippingRates',
  'TaxCodes',
  'Topups',
  'Transfers',
])
const READS = new Set(['list', 'retrieve', 'retrieveCurrent'])

/** Kinds that exist only inside another object, or have no id. */
const EMBEDDED = [
  'Billing/MeterEventAdjustments:MeterEventAdjustment',
  'Billing/MeterEvents:MeterEvent',
  'Discounts:Discount',
  'InvoiceLineItems:InvoiceLineItem',
  'LineItems:LineItem',
  'CustomerBalanceTransactions:CustomerBalanceTransaction',
  'Cards:Card',
  'CreditNoteLineItems:CreditNoteLineItem',
]

export function readStripeContract(name = 'stripe') {
  const root = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  const folder = join(root, 'esm', 'resources')
  const files = [...RESOURCES, ...EMBEDDED.map((entry) => entry.split(':')[0])].map((name) =>
    join(folder, `${name}.d.ts`),
  )
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
  })
  return new ContractReader(program, folder).read(root)
}

/**
 * Adds the card's token to `payment_method_data`. Stripe accepts it but omits it from the types
 * to discourage sending card numbers: https://github.com/stripe/stripe-node/issues/1264
 */
function addCard(node) {
  if (!node.o?.type?.e) return
  node.o.type = { e: [...node.o.type.e, 'card'].sort() }
  node.o.card = { o: { cvc: 's', exp_month: 'n', exp_year: 'n', number: 's', token: 's' } }
}

export class ContractReader {
  constructor(program, folder) {
    this.checker = program.getTypeChecker()
    this.program = program
    this.folder = folder
    this.routes = []
    this.objects = new Map()
  }

  read(root) {
    for (const resource of RESOURCES) this.readResource(resource)
    for (const entry of EMBEDDED) {
      const [file, name] = entry.split(':')
      this.addObject(this.exportedType(file, name))
    }
    const version = /"([^"]+)"/.exec(readFileSync(join(root, 'esm', 'apiVersion.d.ts'), 'utf8'))[1]
    return { version, routes: this.routes, objects: this.objects }
  }

  exportedType(file, name) {
    const source = this.program.getSourceFile(join(this.folder, `${file}.d.ts`))
    const symbol = this.checker.getSymbolAtLocation(source)
    const found = this.checker.getExportsOfModule(symbol).find((member) => member.name === name)
    return this.checker.getDeclaredTypeOfSymbol(found)
  }

  readResource(resource) {
    const source = this.program.getSourceFile(join(this.folder, `${resource}.d.ts`))
    const script = readFileSync(join(this.folder, `${resource}.js`), 'utf8')
    for (const statement of source.statements) {
      if (!ts.isClassDeclaration(statement)) continue
      for (const member of statement.members) {
        if (!ts.isMethodDeclaration(member)) continue
        const name = member.name.getText(source)
        if (READ_ONLY.has(resource) && !READS.has(name)) continue
        const call = new RegExp(
          `\\n    ${name}\\([^)]*\\) \\{[^]*?_makeRequest\\('([A-Z]+)', (?:'([^']+)'|\`([^\`]+)\`)`,
        ).exec(script)
        if (!call) continue
        const path = (call[2] ?? call[3]).replace(/\$\{encodeURIComponent\((\w+)\)\}/g, ':$1')
        if (!path.startsWith('/v1/')) continue
        const params = member.parameters.find(
          (parameter) => parameter.name.getText(source) === 'params',
        )
        const returned = this.resultType(this.checker.getTypeAtLocation(member.type))
        this.routes.push({
          resource,
          name,
          method: call[1],
          path,
          params: params
            ? this.paramNode(this.checker.getTypeAtLocation(params), new Set())
            : { o: {} },
          returned,
          response: this.responseNode(returned),
        })
      }
    }
  }

  /** Converts `Promise<Response<T>>` and its list variants to T or ApiList<T>. */
  resultType(type) {
    const awaited = this.checker.getAwaitedType(type) ?? type
    if (awaited.isIntersection())
      return awaited.types.find((part) => !part.getProperty('lastResponse')) ?? awaited
    return awaited
  }

  isDecimal(type) {
    return (type.aliasSymbol?.name ?? type.symbol?.name ?? '').startsWith('Decimal')
  }

  /** Returns a request parameter's type as a compact node: see src/stripe/api/parameters.ts. */
  paramNode(type, seen) {
    if (this.isDecimal(type)) return 'd'
    if (type.isUnion()) return this.paramUnion(type, seen)
    const simple = this.simple(type)
    if (simple) return simple
    if (this.checker.isArrayType(type))
      return { a: this.paramNode(this.checker.getTypeArguments(type)[0], seen) }
    const index = this.checker.getIndexInfoOfType(type, ts.IndexKind.String)
    if (index) return { m: this.paramNode(index.type, seen) }
    if (seen.has(type)) return 's'
    const inside = new Set(seen).add(type)
    const o = {}
    const r = []
    for (const property of this.checker.getPropertiesOfType(type)) {
      const node = this.paramNode(this.checker.getTypeOfSymbol(property), inside)
      if (node === 'undefined') continue
      if (property.name === 'payment_method_data') addCard(node)
      o[property.name] = node
      if (!(property.flags & ts.SymbolFlags.Optional)) r.push(property.name)
    }
    return r.length ? { o, r } : { o }
  }

  paramUnion(type, seen) {
    const literals = []
    const nodes = []
    let empty = false
    let booleans = false
    for (const part of type.types) {
      if (part.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void)) continue
      if (part.flags & ts.TypeFlags.Null) empty = true
      else if (part.isStringLiteral() && part.value === '') empty = true
      else if (part.isStringLiteral()) literals.push(part.value)
      else if (part.isNumberLiteral()) nodes.push('n')
      else if (part.flags & ts.TypeFlags.BooleanLiteral) booleans = true
      else if (part.isIntersection() && !this.isDecimal(part))
        continue // OtherString: open only in responses
      else nodes.push(this.paramNode(part, seen))
    }
    if (booleans) nodes.unshift('b')
    if (literals.length) nodes.unshift({ e: literals.sort() })
    const distinct = [...new Map(nodes.map((node) => [JSON.stringify(node), node])).values()]
    const node = distinct.length > 1 ? { u: distinct } : (distinct[0] ?? 'undefined')
    return empty ? { z: node } : node
  }

  simple(type) {
    if (type.flags & ts.TypeFlags.String) return 's'
    if (type.flags & ts.TypeFlags.Number) return 'n'
    if (type.flags & ts.TypeFlags.Boolean) return 'b'
    if (type.isStringLiteral()) return { e: [type.value] }
    if (type.flags & (ts.TypeFlags.Void | ts.TypeFlags.Undefined)) return 'undefined'
    if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return 's'
    return null
  }

  /** Returns the kind of an interface (`object: 'invoice'`). */
  kindOf(type) {
    const property = type.getProperty?.('object')
    if (!property) return null
    const literal = this.checker.getTypeOfSymbol(property)
    return literal.isStringLiteral() ? literal.value : null
  }

  /** Returns the name of an object type and reads its fields the first time. */
  addObject(type) {
    const kind = this.kindOf(type)
    const name =
      type.getProperty('deleted') && this.isTrue(type.getProperty('deleted'))
        ? `deleted_${kind}`
        : kind
    if (this.objects.has(name)) return name
    const fields = {}
    this.objects.set(name, fields)
    for (const property of this.checker.getPropertiesOfType(type)) {
      const optional = Boolean(property.flags & ts.SymbolFlags.Optional)
      fields[property.name] = {
        optional,
        type: this.responseNode(this.checker.getTypeOfSymbol(property)),
      }
    }
    return name
  }

  isTrue(property) {
    const type = this.checker.getTypeOfSymbol(property)
    return this.checker.typeToString(type) === 'true'
  }

  /**
   * Returns a response's type: primitives, {ref}, {list}, {array}, {map}, {fields}, {literal},
   * {union}.
   */
  responseNode(type) {
    if (this.isDecimal(type)) return 'decimal'
    if (type.isUnion()) {
      const parts = type.types.filter((part) => !(part.flags & ts.TypeFlags.Undefined))
      const nodes = parts.map((part) => this.responseNode(part))
      const distinct = [...new Map(nodes.map((node) => [JSON.stringify(node), node])).values()]
      return distinct.length === 1 ? distinct[0] : { union: distinct }
    }
    if (type.isIntersection()) {
      // `Response<A | B>` is a union of intersections with the HTTP response.
      const object = type.types.find((part) => this.kindOf(part))
      return object ? this.responseNode(object) : 'open-string'
    }
    if (type.flags & ts.TypeFlags.Null) return 'null'
    if (type.flags & (ts.TypeFlags.Void | ts.TypeFlags.Undefined)) return 'void'
    if (type.isStringLiteral() || type.isNumberLiteral()) return { literal: type.value }
    if (type.flags & ts.TypeFlags.BooleanLiteral)
      return { literal: this.checker.typeToString(type) === 'true' }
    if (type.flags & ts.TypeFlags.Boolean) return 'boolean'
    if (type.flags & ts.TypeFlags.String) return 'string'
    if (type.flags & ts.TypeFlags.Number) return 'number'
    if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return 'any'
    if (this.checker.isArrayType(type))
      return { array: this.responseNode(this.checker.getTypeArguments(type)[0]) }
    const kind = this.kindOf(type)
    if (kind === 'list' || kind === 'search_result') {
      const data = this.checker.getTypeOfSymbol(type.getProperty('data'))
      return { list: this.responseNode(this.checker.getTypeArguments(data)[0]), kind }
    }
    if (kind && type.getProperty('id')) return { ref: this.addObject(type) }
    const index = this.checker.getIndexInfoOfType(type, ts.IndexKind.String)
    if (index) return { map: this.responseNode(index.type) }
    this.inline ??= new Map()
    const known = this.inline.get(type)
    if (known) return known
    const node = { fields: {} }
    this.inline.set(type, node)
    for (const property of this.checker.getPropertiesOfType(type)) {
      const optional = Boolean(property.flags & ts.SymbolFlags.Optional)
      node.fields[property.name] = {
        optional,
        type: this.responseNode(this.checker.getTypeOfSymbol(property)),
      }
    }
    return node
  }
}
