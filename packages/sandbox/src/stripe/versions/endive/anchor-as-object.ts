import { type FormObject, isForm } from '../../wire/form.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** A new anchor was a word or a moment; since endive it is an object with a type. */
export const anchorAsObject: VersionChange = {
  since: '2026-09-30',
  name: 'anchor-as-object',
  params: {
    'Subscriptions.update': wrapAnchor,
    'Subscriptions.resume': wrapAnchor,
    'Invoices.createPreview'({ subscription_details: details }) {
      if (isForm(details)) wrapAnchor(details)
    },
  },
}

function wrapAnchor(form: FormObject): void {
  const anchor = form.billing_cycle_anchor
  if (typeof anchor !== 'string') return
  form.billing_cycle_anchor = /^\d+$/.test(anchor)
    ? { type: 'timestamp', timestamp: anchor }
    : { type: anchor }
}
