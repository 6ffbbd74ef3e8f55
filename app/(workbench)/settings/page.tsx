import { PasswordSection } from "@/components/account/password-section"
import { ThemeSection } from "@/components/account/theme-section"
import { TokensSection } from "@/components/account/tokens-section"
import { PhoneBar } from "@/components/frame/phone-bar"
import { Page } from "@/components/ui/page"

export default function SettingsPage() {
  return (
    <Page title="Settings" top={<PhoneBar />}>
      <ThemeSection />
      <PasswordSection />
      <TokensSection />
    </Page>
  )
}
