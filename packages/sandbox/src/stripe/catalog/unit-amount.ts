import type Stripe from 'stripe'
import { createInvalidRequestFault } from '../wire/errors.ts'

interface AmountParams {
  readonly unit_amount?: number
  readonly unit_amount_decimal?: Stripe.Decimal
}

/**
 * Reads a price's amount, in minor units with or without decimals. `within` is the name of the
 * parameter that holds the amount, for error messages.
 */
export function readUnitAmount(
  params: AmountParams,
  within?: string,
  { mayBeCredit = false }: { readonly mayBeCredit?: boolean } = {},
): { cents: number | null; decimal: string } {
  const path = (name: string) => (within === undefined ? name : `${within}[${name}]`)
  const { unit_amount: cents } = params
  const decimal =
    params.unit_amount_decimal === undefined ? undefined : String(params.unit_amount_decimal)
  if (cents !== undefined && decimal !== undefined) {
    throw createInvalidRequestFault(
      'You may only specify one of these parameters: unit_amount, unit_amount_decimal.',
      path('unit_amount'),
    )
  }
  if (cents === undefined && decimal === undefined) {
    throw createInvalidRequestFault(
      'Prices require an `unit_amount` or `unit_amount_decimal` parameter to be set.',
      path('unit_amount'),
      'parameter_missing',
    )
  }
  if (cents !== undefined) {
    if (cents < 0 && !mayBeCredit)
      throw createInvalidRequestFault(
        'Invalid non-negative integer',
        path('unit_amount'),
        'parameter_invalid_integer',
      )
    if (Math.abs(cents) > 99_999_999)
      throw createInvalidRequestFault(
        'Amount must be no more than $999,999.99',
        path('unit_amount'),
        'amount_too_large',
      )
    return { cents, decimal: String(cents) }
  }
  const text = decimal ?? '0'
  if (text.startsWith('-') && !mayBeCredit)
    throw createInvalidRequestFault('Invalid non-negative decimal', path('unit_amount_decimal'))
  const whole = /^-?\d+(?:\.0+)?$/.test(text)
  return { cents: whole ? Number(text) : null, decimal: text }
}
