package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"opsmon/app/auth"
	"opsmon/app/host/config"
	"opsmon/app/ingest/signal"
	"opsmon/app/ingest/transform"
	"opsmon/app/test/apptest"
)

// starterStation is the station of an account that was given no manifest.
const starterStation = "STATION-1"

// starterTopic is where its signals go.
const starterTopic = "v1/northgate/signals/" + starterStation

// dialMQTT connects as a device; nil when it is not let in. trust is the authority for TLS, "" for none.
func dialMQTT(t testing.TB, address, trust, user, token string) paho.Client {
	t.Helper()
	o := paho.NewClientOptions().SetClientID(user).SetUsername(user).SetPassword(token).SetAutoReconnect(false).SetConnectRetry(false).
		SetConnectTimeout(5 * time.Second).SetProtocolVersion(4).AddBroker("tcp://" + address)
	if trust != "" {
		cfg := &tls.Config{RootCAs: x509.NewCertPool()}
		cfg.RootCAs.AppendCertsFromPEM([]byte(trust))
		o.Servers = nil
		o.AddBroker("ssl://" + address).SetTLSConfig(cfg)
	}
	c := paho.NewClient(o)
	if done := c.Connect(); !done.WaitTimeout(10*time.Second) || done.Error() != nil {
		return nil
	}
	t.Cleanup(func() { c.Disconnect(0) })
	return c
}

// acknowledged publishes with QoS 1 and tells whether the broker took it.
func acknowledged(c paho.Client, payload string) bool {
	done := c.Publish(starterTopic, 1, false, payload)
	return done.WaitTimeout(5*time.Second) && done.Error() == nil
}

// device adds a device for the starter's station.
func (r *running) device(t testing.TB, name string) (token string) {
	t.Helper()
	_, token, err := r.host.app.Load().services.Auth.AddDevice(auth.Local("northgate"), auth.DeviceInput{Name: name, StationCodes: []string{starterStation}})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestMQTTOverTLS: devices send over TLS with the appliance's own certificate, also through the replacement of the store,
// which ends their connections and loses nothing that was acknowledged.
func TestMQTTOverTLS(t *testing.T) {
	cfg := testConfig(t)
	cfg.TLS, cfg.MQTT.Listen, cfg.MQTT.Topics = "auto", "127.0.0.1:0", "line/{station}"
	r := serve(t, cfg)
	st := status(t, cfg.DataDir)
	token := r.device(t, "gw")
	connect := func() paho.Client {
		return dialMQTT(t, st.MQTTListen, st.Certificate.Authority.PEM, "northgate/gw", token)
	}
	c := connect()
	if c == nil || !acknowledged(c, `{"production_complete":1,"id":"0"}`) {
		t.Fatal("the device is not let in")
	}
	if dialMQTT(t, st.MQTTListen, "", "northgate/gw", token) != nil {
		t.Error("TLS can be left out")
	}
	trusting := apptest.Browser(t, st.Certificate.Authority.PEM)
	get := func(path string) string {
		req, err := http.NewRequest(http.MethodGet, r.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-KEY", r.key)
		resp, err := trusting.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if devices := get("/device"); !strings.Contains(devices, `"connections":1`) || !strings.Contains(devices, `"accepted":1`) {
		t.Errorf("the device is shown as %s", devices)
	}
	metrics := get("/metrics")
	for began := time.Now(); !strings.Contains(metrics, "app_mqtt_connections 1") && time.Since(began) < 10*time.Second; { // the refused one is closed in a moment
		time.Sleep(10 * time.Millisecond)
		metrics = get("/metrics")
	}
	for _, want := range []string{"app_mqtt_connections 1", "app_mqtt_connections_total 1", "app_signals_accepted_total 1", `app_signals_refused_total{cause="foreign"} 0`, `app_mqtt_refused_total{cause="protocol"}`, "app_devices_clock_ahead 0"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics do not have %s", want)
		}
	}
	sent := 1
	for range 2 {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for acknowledged(c, fmt.Sprintf(`{"production_complete":1,"id":"%d"}`, sent)) {
				sent++
			}
		}()
		if _, err := r.host.Compact(context.Background()); err != nil {
			t.Fatal(err)
		}
		<-ended
		apptest.Eventually(t, "a connection", func() bool { c = connect(); return c != nil })
	}
	if done := c.Publish("line/"+starterStation, 1, false, `{"productive":true}`); !done.WaitTimeout(5*time.Second) || done.Error() != nil {
		t.Error("a topic of the settings is not taken")
	}
	got := map[string]bool{}
	list, err := r.host.app.Load().services.Signals.Of("northgate", starterStation, signal.Day(time.Now().UnixMilli()))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		got[s.ID] = true
	}
	for i := range sent {
		if !got[fmt.Sprint(i)] {
			t.Errorf("signal %d of %d was acknowledged and is lost", i, sent)
		}
	}
}

// TestMosquitto: the clients of Debian's mosquitto send and are refused as they should be.
func TestMosquitto(t *testing.T) {
	for _, tool := range []string{"mosquitto_pub", "mosquitto_sub"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed (Debian: mosquitto-clients)", tool)
		}
	}
	cfg := testConfig(t)
	cfg.TLS, cfg.MQTT.Listen = "auto", "127.0.0.1:0"
	r := serve(t, cfg)
	st := status(t, cfg.DataDir)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte(st.Certificate.Authority.PEM), 0o600); err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(st.MQTTListen, ":")
	run := func(tool, user, token string, args ...string) (said string, code int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, tool, append([]string{"-h", host, "-p", port, "--cafile", ca, "-u", user, "-P", token, "-d"}, args...)...)
		b, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(b), cmd.ProcessState.ExitCode()
	}
	token := r.device(t, "gw")
	const user, good = "northgate/gw", `{"production_complete":1}`
	for _, v := range []string{"mqttv311", "mqttv5"} {
		for _, qos := range []string{"0", "1", "2"} {
			if said, code := run("mosquitto_pub", user, token, "-V", v, "-q", qos, "-t", starterTopic, "-m", good); code != 0 {
				t.Errorf("%s, QoS %s: exit %d, %s", v, qos, code, said)
			}
		}
		if said, code := run("mosquitto_pub", user, token+"x", "-V", v, "-q", "1", "-t", starterTopic, "-m", good); code == 0 || !strings.Contains(said, "not authori") && !strings.Contains(said, "Bad User Name") {
			t.Errorf("%s with a wrong password: exit %d, %s", v, code, said)
		}
		if said, _ := run("mosquitto_sub", user, token, "-V", v, "-t", "#", "-W", "5"); !strings.Contains(said, "All subscription requests were denied") {
			t.Errorf("%s subscribes: %s", v, said)
		}
	}
	if said, _ := run("mosquitto_pub", user, token, "-V", "mqttv5", "-q", "1", "-t", "v1/northgate/signals/OTHER", "-m", good); !strings.Contains(said, "RC:135") {
		t.Errorf("a foreign topic in MQTT 5: %s", said)
	}
	if said, _ := run("mosquitto_pub", user, token, "-V", "mqttv5", "-q", "1", "-t", starterTopic, "-m", `{"production_complete":NaN}`); !strings.Contains(said, "RC:153") {
		t.Errorf("NaN in MQTT 5: %s", said)
	}
	if said, code := run("mosquitto_pub", user, token, "-V", "mqttv311", "-q", "1", "-t", "v1/northgate/signals/OTHER", "-m", good); strings.Contains(said, "PUBACK") {
		t.Errorf("a foreign topic in MQTT 3.1.1: exit %d, %s", code, said)
	}
	apptest.Eventually(t, "six signals", func() bool {
		list, err := r.services.Signals.Of("northgate", starterStation, signal.Day(time.Now().UnixMilli()))
		return err == nil && len(list) == 6
	})
}

// TestMQTTInTheClear: only networks that are named may connect without TLS.
func TestMQTTInTheClear(t *testing.T) {
	for networks, in := range map[string]bool{"10.0.0.0/8, ::1": false, "10.0.0.0/8,127.0.0.0/8": true, "127.0.0.1": true} {
		cfg := testConfig(t)
		cfg.MQTT.Insecure = config.MQTTInsecure{Listen: "127.0.0.1:0", Networks: networks}
		if err := cfg.Check(); err != nil {
			t.Fatal(err)
		}
		r := serve(t, cfg)
		c := dialMQTT(t, status(t, cfg.DataDir).MQTTInsecureListen, "", "northgate/gw", r.device(t, "gw"))
		if (c != nil) != in || in && !acknowledged(c, `{"productive":true}`) {
			t.Errorf("networks %s: let in %t", networks, c != nil)
		}
		if c != nil {
			c.Disconnect(0)
		}
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	}
}

// TestMQTTKilled kills the service under load, again and again: nothing that was acknowledged is lost.
func TestMQTTKilled(t *testing.T) {
	dir := t.TempDir()
	apptest.Initialise(t, dir, "--domain", "northgate.example")
	out, stderr, code := apptest.Command(t, "device", "add", "gw", "--stations", starterStation, "--data-dir", dir, "--json")
	var made struct{ ID, Token string }
	if err := json.Unmarshal([]byte(out), &made); code != 0 || err != nil {
		t.Fatalf("device add: %d, %s", code, stderr)
	}
	const senders = 8
	var mu sync.Mutex
	acked := map[string]bool{}
	for round := range 4 {
		p := apptest.StartService(t, dir, "--mqtt-insecure-listen", "127.0.0.1:0", "--mqtt-insecure-networks", "127.0.0.1")
		address := status(t, dir).MQTTInsecureListen
		var running sync.WaitGroup
		for n := range senders {
			running.Go(func() {
				o := paho.NewClientOptions().AddBroker("tcp://" + address).SetClientID(fmt.Sprint(n)).SetUsername(made.ID).SetPassword(made.Token).
					SetAutoReconnect(false).SetConnectRetry(false).SetProtocolVersion(4)
				c := paho.NewClient(o)
				defer c.Disconnect(0)
				if done := c.Connect(); !done.WaitTimeout(10*time.Second) || done.Error() != nil {
					t.Errorf("connect: %v", done.Error())
					return
				}
				for i := 0; ; i++ {
					id := fmt.Sprintf("%d-%d-%d", round, n, i)
					done := c.Publish(starterTopic, 1, false, `{"production_complete":1,"id":"`+id+`"}`)
					if !done.WaitTimeout(5*time.Second) || done.Error() != nil {
						return
					}
					mu.Lock()
					acked[id] = true
					mu.Unlock()
				}
			})
		}
		time.Sleep(time.Duration(100+137*round) * time.Millisecond)
		p.Kill()
		running.Wait()
	}
	cfg := config.Defaults()
	cfg.DataDir = dir
	a, _ := opened(t, cfg)
	defer a.Close()
	list, err := a.services.Signals.Of("northgate", starterStation, signal.Day(time.Now().UnixMilli()))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, s := range list {
		got[s.ID] = true
	}
	lost := 0
	for id := range acked {
		if !got[id] {
			lost++
		}
	}
	if lost > 0 || len(acked) < 4*senders {
		t.Errorf("of %d signals that were acknowledged %d are lost", len(acked), lost)
	}
	t.Logf("%d acknowledged, %d stored", len(acked), len(list))
}

// TestWorkerCommand: the program evaluates a mapping as its own child process.
func TestWorkerCommand(t *testing.T) {
	e := transform.NewEvaluator(transform.EvaluatorConfig{Command: []string{apptest.Binary(t), WorkerCommand}, Expression: `{"rssi": -db, "station_code": $station}`})
	defer e.Close()
	v, err := e.Evaluate(t.Context(), json.RawMessage(`{"db":61}`), map[string]string{"station": "S1"})
	if err != nil || string(v) != `{"rssi":-61,"station_code":"S1"}` {
		t.Errorf("%s, %v", v, err)
	}
}

// TestPlantBrokerSettings: a service with a broker of the plant that cannot be reached serves all the same, and ends.
func TestPlantBrokerSettings(t *testing.T) {
	cfg := testConfig(t)
	password := filepath.Join(cfg.DataDir, "broker.password")
	if err := os.WriteFile(password, []byte("secret\r\nmore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := firstLine(password); got != "secret" || err != nil {
		t.Errorf("the password is %q, %v", got, err)
	}
	if _, err := firstLine(os.DevNull); err == nil || !strings.Contains(err.Error(), "it is no file") {
		t.Errorf("a device is read for the password: %v", err)
	}
	cfg.PlantBroker = config.PlantBroker{URL: "mqtt://127.0.0.1:1", Username: "opsmon", PasswordFile: password, Topics: "plant/#", Template: "plant/{station}", Mapping: "$"}
	if err := cfg.Check(); err != nil {
		t.Fatal(err)
	}
	r := serve(t, cfg)
	if code := r.request(t, http.MethodGet, "/account", r.key, ""); code != 200 {
		t.Errorf("GET /account: %d", code)
	}
	if list := r.plantGauges(); len(list) != 4 || list[0].Value != 0 {
		t.Errorf("gauges are %+v", list)
	}
	if id, err := r.plantAccount(); id != "northgate" || err != nil {
		t.Errorf("the account is %q, %v", id, err)
	}
}
