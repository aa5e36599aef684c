import { splitWords } from '../wire/words.ts'

// Automatic tax by address, for a few countries at their standard rates. The account counts as
// registered in all places of these tables and in no others.

/** The parts of an address that determine where a customer is taxed. */
export interface TaxAddress {
  readonly country?: string | null
  readonly state?: string | null
  readonly postal_code?: string | null
}

export interface JurisdictionTax {
  readonly type: 'vat' | 'gst' | 'hst' | 'qst' | 'pst' | 'rst' | 'jct' | 'sales_tax'
  readonly percentage: number
  readonly level: 'country' | 'state'
}

export interface TaxJurisdiction {
  readonly country: string
  readonly state: string | null
  /** Taxes due in this place. Empty if the account is not registered there. */
  readonly taxes: readonly JurisdictionTax[]
  /**
   * Type of tax id with which a business owes the tax itself (reverse charge). `null` if there is
   * no reverse charge in this place.
   */
  readonly reversedBy: string | null
}

/** Standard VAT rates of EU countries, in percent. */
const EU_VAT: ReadonlyMap<string, number> = new Map(
  splitWords(`
    AT=20 BE=21 BG=20 CY=19 CZ=21 DE=19 DK=25 EE=24 ES=21 FI=25.5 FR=20 GR=24 HR=25 HU=27
    IE=23 IT=22 LT=21 LU=17 LV=21 MT=18 NL=21 PL=23 PT=23 RO=21 SE=25 SI=22 SK=23
  `).map((entry) => {
    const [country = '', percent] = entry.split('=')
    return [country, Number(percent)]
  }),
)

const COUNTRIES: Readonly<
  Record<string, readonly [JurisdictionTax['type'], number, string | null]>
> = {
  AU: ['gst', 10, 'au_abn'],
  CH: ['vat', 8.1, null],
  GB: ['vat', 20, 'gb_vat'],
  JP: ['jct', 10, null],
  NO: ['vat', 25, 'no_vat'],
  NZ: ['gst', 15, 'nz_gst'],
  SG: ['gst', 9, null],
}

const GST: JurisdictionTax = { type: 'gst', percentage: 5, level: 'country' }
const stateTax = (type: JurisdictionTax['type'], percentage: number): JurisdictionTax => ({
  type,
  percentage,
  level: 'state',
})

/** Taxes by Canadian province, with the first letters of its postal codes. */
const PROVINCES: Readonly<Record<string, readonly [string, readonly JurisdictionTax[]]>> = {
  AB: ['T', [GST]],
  BC: ['V', [GST, stateTax('pst', 7)]],
  MB: ['R', [GST, stateTax('rst', 7)]],
  NB: ['E', [stateTax('hst', 15)]],
  NL: ['A', [stateTax('hst', 15)]],
  NS: ['B', [stateTax('hst', 14)]],
  NT: ['X', [GST]],
  NU: ['', [GST]],
  ON: ['KLMNP', [stateTax('hst', 13)]],
  PE: ['C', [stateTax('hst', 15)]],
  QC: ['GHJ', [GST, stateTax('qst', 9.975)]],
  SK: ['S', [GST, stateTax('pst', 6)]],
  YT: ['Y', [GST]],
}

/** Sales tax rate of US states, with the first and last ZIP prefix. */
const STATES: Readonly<Record<string, readonly [number, number, number]>> = {
  CA: [7.25, 900, 961],
  CO: [2.9, 800, 816],
  FL: [6, 320, 349],
  IL: [6.25, 600, 629],
  NY: [4, 100, 149],
  TX: [6.25, 750, 799],
  WA: [6.5, 980, 994],
}

const NAMES = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })

/**
 * Finds the place where an address is taxed. `null` if the address is incomplete: it has no
 * country, or it is a US address without a ZIP code.
 */
export function findTaxJurisdiction(
  address: TaxAddress | null | undefined,
): TaxJurisdiction | null {
  const country = address?.country?.toUpperCase() ?? ''
  if (findCountryName(country) === null) return null
  if (country === 'US') return findState(address ?? {})
  if (country === 'CA') return findProvince(address ?? {})
  const vat = EU_VAT.get(country)
  const [type, percentage, reversedBy] =
    vat === undefined ? (COUNTRIES[country] ?? []) : (['vat', vat, 'eu_vat'] as const)
  return {
    country,
    state: address?.state || null,
    taxes: type && percentage !== undefined ? [{ type, percentage, level: 'country' }] : [],
    reversedBy: reversedBy ?? null,
  }
}

/**
 * Returns the English name of a country by its two-letter code. `null` if there is no country with
 * this code.
 */
export function findCountryName(code: string): string | null {
  if (!/^[A-Z]{2}$/.test(code) || code === 'ZZ') return null
  return NAMES.of(code) ?? null
}

function findState({ state, postal_code: postal }: TaxAddress): TaxJurisdiction | null {
  const zip = /^(\d{3})\d{2}(-?\d{4})?$/.exec(postal?.trim() ?? '')
  if (!zip) return null
  const area = Number(zip[1])
  const found = Object.keys(STATES).find((name) => {
    const [, first = 0, last = 0] = STATES[name] ?? []
    return area >= first && area <= last
  })
  const name = state?.toUpperCase() || found || null
  const [percentage] = STATES[name ?? ''] ?? []
  return {
    country: 'US',
    state: name,
    taxes: percentage === undefined ? [] : [stateTax('sales_tax', percentage)],
    reversedBy: null,
  }
}

function findProvince({ state, postal_code: postal }: TaxAddress): TaxJurisdiction | null {
  const letter = postal?.trim().charAt(0).toUpperCase() ?? ''
  const found = Object.keys(PROVINCES).find(
    (name) => letter !== '' && PROVINCES[name]?.[0].includes(letter),
  )
  const name = state?.toUpperCase() || found
  const province = PROVINCES[name ?? '']
  if (!name || !province) return null
  return { country: 'CA', state: name, taxes: province[1], reversedBy: null }
}
