import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { addClientPage } from './client-page.tsx'
import { addEditClientPage } from './edit.tsx'
import { addClientListPage } from './list.tsx'
import { addNewClientPages } from './new.tsx'
import { addSecretPages } from './secret.tsx'

/**
 * Adds the pages about applications. The paths for new applications are added first, because they
 * look like ids.
 */
export function addAdminClientPages(app: Hono<AppEnv>): void {
  addClientListPage(app)
  addNewClientPages(app)
  addClientPage(app)
  addEditClientPage(app)
  addSecretPages(app)
}
