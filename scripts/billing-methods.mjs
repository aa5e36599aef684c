// npm run docs:methods: writes docs/reference/billing-methods.md from the features of billing:
// every method of billing itself, a user, a subscription, the builder and an invoice, with a
// sentence, and the providers that support it. scripts/test/billing-methods.test.ts compares.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SRC = join(ROOT, 'packages/billing/src')
export const PAGE = join(ROOT, 'docs/reference/billing-methods.md')

const TYPES = [
  { name: 'Billing', file: 'billing.ts', title: 'Billing itself', heading: 'Method of billing' },
  {
    name: 'BillableUser',
    file: 'billable-user.ts',
    title: 'A user or another owner',
    heading: 'Method of a user or another owner',
  },
  {
    name: 'Subscription',
    file: 'subscription.ts',
    title: 'A subscription',
    heading: 'Method of a subscription',
  },
  {
    name: 'SubscriptionBuilder',
    file: 'features/subscribe/builder.ts',
    title: 'The builder of a new subscription',
    heading: 'Method of the subscription builder',
  },
  {
    name: 'Invoice',
    file: 'features/invoices/invoice.ts',
    title: 'An invoice',
    heading: 'Method of an invoice',
  },
]

export function writePage() {
  const features = readFeatures()
  const sections = TYPES.map(({ name, file, title, heading }) => {
    const methods = [
      ...methodsOf(read(file), name),
      ...features.flatMap(({ source }) => methodsOf(source, name)),
    ]
    const rows = methods
      .filter(({ sentence }) => sentence !== '')
      .map((method) => {
        const { stripe, braintree } = providersOf(features, name, method)
        return `| \`${method.title}\` | ${method.sentence} | Stripe: ${stripe} | Braintree: ${braintree} |`
      })
    return `## ${title}\n\n| ${heading} | | Stripe | Braintree |\n|---|---|---|---|\n${rows.join('\n')}`
  })
  return `# The methods of billing

This page lists every method of billing and the payment providers that support it. \`npm run docs:methods\` generates it from the features of
billing. A method that a provider does not support throws \`Unsupported\` before any request, and is missing from the types if only that
provider is configured. [The reference](billing.md) and the guides have the details.

${sections.join('\n\n')}

## What a provider can do

Each row describes a capability: a part of the interface between billing and a payment provider, which a provider may lack.

| Capability | | Stripe | Braintree |
|---|---|---|---|
${features
  .flatMap(({ values }) => values)
  .filter(({ capability }) => capability)
  .sort((a, b) => a.capability.localeCompare(b.capability))
  .map(
    ({ capability, doc, stripe, braintree }) =>
      `| \`${capability}\` | ${doc} | Stripe: ${mark(stripe)} | Braintree: ${mark(braintree)} |`,
  )
  .join('\n')}
`
}

const mark = (has) => (has ? 'yes' : 'no')

function read(file) {
  return ts.createSourceFile(
    file,
    readFileSync(join(SRC, file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  )
}

function readFeatures() {
  return readdirSync(join(SRC, 'features'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `features/${name}/feature.ts`)
    .filter((file) => ts.sys.fileExists(join(SRC, file)))
    .sort()
    .map((file) => {
      const source = read(file)
      return { source, values: valuesOf(source) }
    })
}

/**
 * Returns the options of `export const refunds = defineCapability('refunds', { … })`, and of defineFeature()
 * alike.
 */
function valuesOf(source) {
  const found = []
  for (const statement of source.statements) {
    if (!ts.isVariableStatement(statement)) continue
    const call = statement.declarationList.declarations[0]?.initializer
    if (!call || !ts.isCallExpression(call)) continue
    const kind = call.expression.getText()
    if (kind !== 'defineCapability' && kind !== 'defineFeature') continue
    const [first, second] = call.arguments
    const body = second ?? first
    found.push({
      capability: kind === 'defineCapability' ? first.text : null,
      doc: sentenceOf(statement),
      stripe: propertyOf(body, 'stripe') !== undefined,
      braintree: propertyOf(body, 'braintree') !== undefined,
      methods: {
        BillableUser: keysOf(propertyOf(body, 'user')),
        Subscription: ['subscription', 'changes', 'subscriptionNeeds'].flatMap((key) =>
          keysOf(propertyOf(body, key)),
        ),
        SubscriptionBuilder: keysOf(propertyOf(body, 'builder')),
        Invoice: keysOf(propertyOf(body, 'invoice')),
      },
    })
  }
  return found
}

function propertyOf(object, name) {
  return object.properties.find((property) => property.name?.getText() === name)?.initializer
}

function keysOf(node) {
  if (!node) return []
  if (ts.isArrayLiteralExpression(node)) return node.elements.map(({ text }) => text)
  return node.properties.map(({ name }) => name.getText())
}

/**
 * Lists the methods of a class, or of an interface that a feature extends. The properties of
 * `Billing`, such as its queues, have methods of their own, and are listed too.
 */
function methodsOf(source, type) {
  const found = []
  const visit = (node) => {
    const isType =
      (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) && node.name?.text === type
    if (isType) {
      for (const member of node.members) {
        const isMethod = ts.isMethodDeclaration(member) || ts.isMethodSignature(member)
        const isListed = isMethod || (type === 'Billing' && ts.isPropertySignature(member))
        if (isListed && ts.isIdentifier(member.name)) {
          const name = member.name.text
          const title = isMethod ? `${name}()` : name
          found.push({ name, title, sentence: sentenceOf(member), lacking: lackingOf(member) })
        }
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function sentenceOf(node) {
  const [doc] = ts.getJSDocCommentsAndTags(node)
  const text = ts.getTextOfJSDocComment(doc?.comment) ?? ''
  const [sentence = ''] = /^.*?[.!?](?=\s|$)/s.exec(text) ?? [text]
  return sentence.replaceAll('\n', ' ').replaceAll('|', '\\|').trim()
}

/** Reads the provider of a tag such as `@throws Unsupported at Braintree`. */
function lackingOf(node) {
  const tags = ts.getJSDocTags(node).map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
  return tags.flatMap((text) => /^Unsupported at (\w+)/.exec(text)?.[1].toLowerCase() ?? [])
}

/**
 * Lists the providers that support a method: those of the capability that declares it, or all
 * except those that its JSDoc names.
 */
function providersOf(features, type, { name, lacking }) {
  const owner = features
    .flatMap(({ values }) => values)
    .find(({ capability, methods }) => capability && methods[type]?.includes(name))
  return {
    stripe: mark(owner?.stripe ?? !lacking.includes('stripe')),
    braintree: mark(owner?.braintree ?? !lacking.includes('braintree')),
  }
}

if (import.meta.filename === process.argv[1]) {
  writeFileSync(PAGE, writePage())
  console.log('docs/reference/billing-methods.md')
}
