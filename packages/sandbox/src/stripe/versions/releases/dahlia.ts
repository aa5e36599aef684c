import type { VersionChange } from '../basics/version-change.ts'

const NEW_NAMES = new Map([
  ['hosted', 'hosted_page'],
  ['embedded', 'embedded_page'],
  ['custom', 'elements'],
])
const OLD_NAMES = new Map([...NEW_NAMES].map(([old, now]) => [now, old]))

/** Changes in the API versions named dahlia, newest first. */
export const DAHLIA_VERSION_CHANGES: readonly VersionChange[] = [
  // Usage values could have any number of digits, of which the last were lost; now they have 15 at
  // most.
  {
    since: '2026-04-22',
    name: 'meter-value-digits',
    removes: 'long-meter-values',
  },
  // The values of `ui_mode` had other names before dahlia.
  {
    since: '2026-03-25',
    name: 'checkout-ui-modes',
    params: {
      'Checkout/Sessions.create'(form) {
        const mode = form.ui_mode
        if (typeof mode === 'string') form.ui_mode = NEW_NAMES.get(mode) ?? mode
      },
    },
    objects: {
      'checkout.session'(wire) {
        wire.ui_mode = OLD_NAMES.get(String(wire.ui_mode)) ?? wire.ui_mode
      },
    },
  },
]
