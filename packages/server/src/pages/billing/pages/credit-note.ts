import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { readAccount } from '../model/account.ts'
import { hasCreditNotes } from '../model/providers.ts'
import { addPage } from './add-page.ts'

/** The PDF; those of invoices are at an address of billing's own. */
export function addCreditNotePage(app: Hono<AppEnv>): void {
  addPage(app, '/billing/credit-note/:id', async (c) => {
    const { service } = c.get('page')
    const { billable, provider } = await readAccount(c)
    const id = c.req.param('id') ?? ''
    const note = hasCreditNotes(provider) ? await billable.findCreditNote(id) : null
    if (!note) return c.notFound()
    return billable.downloadCreditNote(note.id, service.config.settings.invoice)
  })
}
