import { readFileSync } from 'node:fs'
import type { InvoiceSeller } from '@tollgate/billing'
import { ConfigurationError } from '../configuration-error.ts'
import type { Settings } from './settings.ts'

const sellers = new WeakMap<Settings, InvoiceSeller>()

/**
 * Returns the seller on invoices and in mail. The members of the setting `invoice` take precedence
 * over the settings that also apply to pages.
 * @throws ConfigurationError if the logo cannot be read
 */
export function getSeller(settings: Settings): InvoiceSeller {
  const known = sellers.get(settings) ?? createSeller(settings)
  sellers.set(settings, known)
  return known
}

function createSeller(settings: Settings): InvoiceSeller {
  const { name, vendor, vendorAddress, support, invoice, logo } = settings
  const details = [...vendorAddress, ...(support === null ? [] : [support])]
  // PDFs contain no other kinds of images.
  const isPrintable = logo !== null && /\.(png|jpe?g)$/i.test(logo)
  return {
    vendor: vendor ?? name,
    product: 'Subscription',
    ...(details.length > 0 && { vendorDetails: details }),
    ...(isPrintable && { logo: readLogo(logo) }),
    ...invoice,
  }
}

function readLogo(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new ConfigurationError('The configuration is invalid', {
      problems: [`logo: ${path} cannot be read. Paths start at the working folder.`],
      why: cause instanceof Error ? cause.message : null,
    })
  }
}
