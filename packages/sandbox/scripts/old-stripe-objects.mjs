// Reads the objects of an older SDK, installed under a name such as `stripe-18`, from its declarations.
// Used in tests to check what the sandbox answers to calls of that SDK's version.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { ContractReader, readStripeContract } from './stripe-contract.mjs'

const OBJECTS = [
  'Account',
  'BalanceTransaction',
  'Billing.Meter',
  'Billing.MeterEventSummary',
  'BillingPortal.Configuration',
  'Charge',
  'Checkout.Session',
  'Coupon',
  'Customer',
  'CustomerBalanceTransaction',
  'Discount',
  'Invoice',
  'InvoiceItem',
  'InvoiceLineItem',
  'InvoicePayment',
  'LineItem',
  'PaymentIntent',
  'PaymentMethod',
  'Plan',
  'Price',
  'Product',
  'PromotionCode',
  'Refund',
  'SetupIntent',
  'Subscription',
  'SubscriptionItem',
  'SubscriptionSchedule',
  'TaxId',
  'TaxRate',
  'TestHelpers.TestClock',
  'WebhookEndpoint',
]

export function readOldObjects(name) {
  const root = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  const index = join(root, 'types', 'index.d.ts')
  // Since version 22 the declarations are modules, as in the present version.
  if (!existsSync(index)) return readStripeContract(name).objects
  const program = ts.createProgram([index], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
  })
  const reader = new ContractReader(program, root)
  const { checker } = reader
  const find = (symbol, name) =>
    checker.getExportsOfModule(symbol).find((member) => member.name === name)
  const ambient = checker.getAmbientModules().find((module) => module.name === '"stripe"')
  const stripe = find(ambient, 'Stripe')
  for (const object of OBJECTS) {
    const symbol = object.split('.').reduce(find, stripe)
    reader.addObject(checker.getDeclaredTypeOfSymbol(symbol))
  }
  return reader.objects
}
