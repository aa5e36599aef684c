import COUNTRIES from './countries.json' with { type: 'json' }

/** A country of ISO 3166-1 with Braintree's four ways to name it: the name and three codes. */
export type BraintreeCountry = Readonly<(typeof COUNTRIES)[number]>

/**
 * Finds the country whose field `codeField` has this value. If `codeField` is `name`, a two-letter
 * or three-letter code is accepted, too.
 */
export function findCountry(
  codeField: keyof BraintreeCountry,
  value: string,
): BraintreeCountry | null {
  const called =
    codeField === 'name' && value === 'United States' ? 'United States of America' : value
  const found = COUNTRIES.find((country) => country[codeField] === called)
  if (found || codeField !== 'name') return found ?? null
  return COUNTRIES.find(({ alpha2, alpha3 }) => alpha2 === value || alpha3 === value) ?? null
}
