import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * Time-based one-time passwords (RFC 6238) with the parameters that every authenticator app knows:
 * SHA-1, six digits, and steps of 30 seconds.
 */
const STEP_SECONDS = 30
const DIGITS = 6
/** Number of steps before and after the present one whose codes are accepted, for slow clocks. */
const WINDOW = 1
/** The length that RFC 4226 recommends for secrets. */
const SECRET_BYTES = 20

/** Creates the secret of an authenticator app, in base32. */
export function createTotpSecret(): string {
  return toBase32(randomBytes(SECRET_BYTES))
}

/** Returns the number of the TOTP time step that contains this moment. */
export function totpStepAt(now: Date): number {
  return Math.floor(now.getTime() / 1000 / STEP_SECONDS)
}

/** Returns the TOTP code of a time step (RFC 4226 §5.3). */
export function computeTotpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0x0f
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/**
 * Finds the time step of a code, among the present step and its neighbours. `null` for a wrong
 * code, and for a code whose step is not later than `after`, because it may have been used.
 */
export function findTotpStep(
  code: string,
  { secret, now, after }: { readonly secret: string; readonly now: Date; readonly after: number },
): number | null {
  const typed = code.replace(/[\s-]/g, '')
  if (!/^\d{6}$/.test(typed)) return null
  const present = totpStepAt(now)
  let found: number | null = null
  // Compares with every step, so that the time does not tell which one matched.
  for (let step = present - WINDOW; step <= present + WINDOW; step++) {
    const isEqual = timingSafeEqual(Buffer.from(computeTotpCode(secret, step)), Buffer.from(typed))
    if (isEqual && step > after) found ??= step
  }
  return found
}

/** Returns the URI that authenticator apps read from a QR code. */
export function buildTotpUri(secret: string, issuer: string, account: string): string {
  // A colon would separate the issuer from the account.
  const name = issuer.replaceAll(':', ' ')
  const label = `${encodeURIComponent(name)}:${encodeURIComponent(account)}`
  const query = [
    `secret=${secret}`,
    `issuer=${encodeURIComponent(name)}`,
    'algorithm=SHA1',
    `digits=${DIGITS}`,
    `period=${STEP_SECONDS}`,
  ]
  return `otpauth://totp/${label}?${query.join('&')}`
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function toBase32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += BASE32[(held >>> bits) & 31]
    }
    held &= (1 << bits) - 1
  }
  return bits > 0 ? text + BASE32[(held << (5 - bits)) & 31] : text
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = []
  let bits = 0
  let held = 0
  for (const letter of text) {
    const value = BASE32.indexOf(letter)
    if (value < 0) throw new TypeError('A TOTP secret is written in base32')
    held = (held << 5) | value
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes.push((held >>> bits) & 255)
    }
    held &= (1 << bits) - 1
  }
  return Buffer.from(bytes)
}
