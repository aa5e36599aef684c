import type { Words } from './words.ts'

/** German. */
export const de: Words = {
  invoice: {
    invoice: 'Rechnung',
    receipt: 'Quittung',
    number: 'Nummer',
    date: 'Datum',
    billedTo: 'Rechnungsempfänger',
    description: 'Beschreibung',
    period: 'Zeitraum',
    amount: 'Betrag',
    subtotal: 'Zwischensumme',
    discount: 'Rabatt',
    tax: 'Steuer',
    included: 'enthalten',
    total: 'Gesamtbetrag',
    paidFromCredit: 'Aus Guthaben bezahlt',
    balanceFromBefore: 'Übertrag',
    amountPaid: 'Bezahlter Betrag',
    amountDue: 'Zu zahlen',
    page: 'Seite {page} von {pages}',
    creditNote: 'Rechnungskorrektur',
    forInvoice: 'Zur Rechnung',
    refunded: 'Erstattet',
    toBalance: 'Ihrem Guthaben gutgeschrieben',
    outside: 'Auf anderem Weg beglichen',
    taxId: 'USt-IdNr.',
    reverseCharge: 'Steuerschuldnerschaft des Leistungsempfängers',
  },
  mail: {
    greeting: 'Guten Tag {name},',
    hello: 'Guten Tag,',
    closing: 'Mit freundlichen Grüßen',
    receipt: {
      subject: 'Ihre Quittung von {vendor}',
      text: 'Wir haben Ihre Zahlung über {amount} für {product} erhalten. Vielen Dank.',
    },
    payment_failed: {
      subject: 'Ihre Zahlung an {vendor} ist fehlgeschlagen',
      text: 'Wir konnten {amount} für {product} nicht einziehen.',
    },
    action_required: {
      subject: 'Bitte bestätigen Sie Ihre Zahlung an {vendor}',
      text: 'Ihre Bank bittet Sie, die Zahlung von {amount} für {product} zu bestätigen. Vorher ist sie nicht abgeschlossen.',
    },
    trial_ending: {
      subject: 'Ihr Probezeitraum für {product} endet am {date}',
      text: 'Ihr Probezeitraum für {product} endet am {date}.',
    },
    card_expiring: {
      subject: 'Ihre Karte läuft bald ab',
      text: 'Ihre Karte {card} läuft Ende {month} ab. Bitte geben Sie vorher eine andere an, damit Ihre Zahlungen für {product} weiterlaufen.',
    },
    refunded: {
      subject: 'Ihre Erstattung von {vendor}',
      text: 'Wir haben Ihnen {amount} erstattet. Es kann einige Tage dauern, bis der Betrag auf Ihrem Konto erscheint.',
    },
    triedAgain:
      'Wir versuchen es am {date} noch einmal. Bitte sorgen Sie dafür, dass Ihr Zahlungsmittel bis dahin funktioniert.',
    lastAttempt:
      'Bitte geben Sie ein anderes Zahlungsmittel an, damit Ihr Abonnement weiterlaufen kann.',
    subscriptionFollows:
      'Wenn Sie nicht vorher kündigen, läuft Ihr Abonnement weiter und wird berechnet.',
    noSubscription: 'Wenn Sie es weiter nutzen möchten, schließen Sie bitte ein Abonnement ab.',
    changeMethod: 'Zahlungsmittel ändern',
    confirm: 'Zahlung bestätigen',
    manage: 'Abonnement verwalten',
  },
}
