import type { PageText } from '../../messages/messages.ts'

const PAGE = [
  'copied',
  'pressKeys',
  'away',
  'failed',
  'client',
  'clientId',
  'clientSecret',
  'token',
  'name',
] as const

/** The texts that `app.js` shows, as JSON. */
export function pageScriptTexts(t: PageText): string {
  const texts = Object.fromEntries(PAGE.map((name) => [name, t(`script.${name}`)]))
  return JSON.stringify({ ...texts, copy: t('dialog.copy') })
}

const CARDS = [
  'away',
  'bankAway',
  'empty',
  'refused',
  'securityCode',
  'slow',
  'expired',
  'bankRefused',
  'bankClosed',
  'paypalClosed',
  'paypalFailed',
  'unknown',
  'signedOut',
] as const

/** The texts that `braintree-card.js` shows, as JSON. */
export function cardScriptTexts(t: PageText): string {
  return JSON.stringify({
    ...Object.fromEntries(CARDS.map((name) => [name, t(`cardScript.${name}`)])),
    // The script fills in the names of the fields.
    check: t('cardScript.check', { fields: '{fields}' }),
  })
}
