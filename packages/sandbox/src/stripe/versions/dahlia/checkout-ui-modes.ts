import type { VersionChange } from '../basics/version-change.ts'

const NEW_NAMES = new Map([
  ['hosted', 'hosted_page'],
  ['embedded', 'embedded_page'],
  ['custom', 'elements'],
])
const OLD_NAMES = new Map([...NEW_NAMES].map(([old, now]) => [now, old]))

/** Dahlia has other words for how a checkout is shown. */
export const checkoutUiModes: VersionChange = {
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
}
