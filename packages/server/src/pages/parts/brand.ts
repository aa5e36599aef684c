import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { type ColorScheme, deriveAccentColors, makeReadable } from '../../config/contrast.ts'
import type { Settings } from '../../config/settings.ts'
import { ConfigurationError } from '../../configuration-error.ts'
import { type Asset, assetUrl } from './assets.ts'

/** The look of all pages: name, logo, icon, colors and the contact at the foot. */
export interface Brand {
  readonly name: string
  readonly logoUrl: string
  readonly icon: { readonly url: string; readonly type: string }
  /** Stylesheet with the accent colors. `null` for ours. */
  readonly styleUrl: string | null
  /** Name and address of the vendor at the foot of pages. Empty for none. */
  readonly vendor: readonly string[]
  /** E-mail or web address for questions. `null` for none. */
  readonly support: string | null
  /** The brand's own files, by URL path. */
  readonly files: ReadonlyMap<string, Asset>
}

type BrandSettings = Pick<
  Settings,
  | 'name'
  | 'logo'
  | 'favicon'
  | 'accentColor'
  | 'accentColorDark'
  | 'vendor'
  | 'vendorAddress'
  | 'support'
>

const TYPES: Readonly<Record<string, string>> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
}
/** Every page loads these files. */
const MAX_BYTES = 256 * 1024

const brands = new WeakMap<BrandSettings, Brand>()

/**
 * Returns the brand of the settings. The files are read once, when the service starts.
 * @throws ConfigurationError if a file is missing, too large or of an unknown type
 */
export function getBrand(settings: BrandSettings): Brand {
  const known = brands.get(settings) ?? createBrand(settings)
  brands.set(settings, known)
  return known
}

function createBrand(settings: BrandSettings): Brand {
  const logo = settings.logo === null ? null : readImage('logo', settings.logo)
  const favicon = settings.favicon === null ? logo : readImage('favicon', settings.favicon)
  const style = createStyle(settings)
  const files = [logo, favicon, style].filter((each) => each !== null)
  const { vendor, vendorAddress } = settings
  return {
    name: settings.name,
    logoUrl: logo?.url ?? assetUrl('icon.svg'),
    icon: favicon ?? { url: assetUrl('icon.svg'), type: 'image/svg+xml' },
    styleUrl: style?.url ?? null,
    vendor:
      vendor === null && vendorAddress.length === 0
        ? []
        : [vendor ?? settings.name, ...vendorAddress],
    support: settings.support,
    files: new Map(files.map((file) => [file.url, file])),
  }
}

function readImage(setting: 'logo' | 'favicon', path: string): Asset {
  const extension = extname(path).toLowerCase()
  const type = TYPES[extension]
  const fail = (problem: string) =>
    new ConfigurationError('The configuration is invalid', {
      problems: [`${setting}: ${path} ${problem}`],
    })
  if (type === undefined) throw fail(`must end with ${Object.keys(TYPES).join(', ')}.`)
  let body: Buffer
  try {
    body = readFileSync(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
    throw fail(`cannot be read${code}. Paths start at the working folder.`)
  }
  if (body.length > MAX_BYTES) {
    throw fail(`has ${body.length} bytes. Every page loads it, so ${MAX_BYTES} are allowed.`)
  }
  return toAsset(setting, extension, type, body)
}

function toAsset(name: string, extension: string, type: string, body: Uint8Array): Asset {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12)
  return { url: `/assets/${name}-${hash}${extension}`, type, body }
}

function createStyle({ accentColor, accentColorDark }: BrandSettings): Asset | null {
  if (accentColor === null && accentColorDark === null) return null
  const light = accentColor ?? makeReadable(accentColorDark ?? '', 'light')
  const dark = accentColorDark ?? makeReadable(accentColor ?? '', 'dark')
  const css = `${createRule(light, 'light')}@media (prefers-color-scheme: dark) { ${createRule(dark, 'dark')} }\n`
  return toAsset('brand', '.css', 'text/css; charset=utf-8', Buffer.from(css))
}

function createRule(color: string, scheme: ColorScheme): string {
  const { accent, strong, onAccent, tint } = deriveAccentColors(color, scheme)
  return `:root { --accent: ${accent}; --accent-strong: ${strong}; --on-accent: ${onAccent}; --tint: ${tint}; }\n`
}

/** The link to the contact: the page itself, or `mailto:`. */
export function toContactUrl(contact: string): string {
  return contact.includes('://') ? contact : `mailto:${contact}`
}
