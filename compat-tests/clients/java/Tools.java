// Tools: runs Apache Kafka's tools in one process, one after the other. A line of input is a class and its arguments with tabs
// between; the answer is three lines: the exit code, and standard output and standard error in hex.
import java.io.*;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.*;

@SuppressWarnings("removal")
public class Tools {
    // How the tool would have ended the process, and what it had said until then: some catch this, say more, and end again.
    static class Ended extends Error {
        final int code;
        final String out, err;
        Ended(int code) {
            super(null, null, false, false);
            this.code = code;
            out = text(said);
            err = text(told);
        }
    }

    static final ByteArrayOutputStream said = new ByteArrayOutputStream(), told = new ByteArrayOutputStream();
    static Ended first;

    static Ended ended(int code) {
        if (first == null) first = new Ended(code);
        return first;
    }

    static String text(ByteArrayOutputStream bytes) { return HexFormat.of().formatHex(bytes.toByteArray()); }

    public static void main(String[] a) throws Exception {
        PrintStream out = System.out, err = System.err;
        for (String exit : new String[] {"org.apache.kafka.common.utils.internals.Exit", "org.apache.kafka.common.utils.Exit"}) {
            try { end(Class.forName(exit)); } catch (ClassNotFoundException other) { }
        }
        System.setSecurityManager(new SecurityManager() {
            @Override public void checkExit(int code) { throw ended(code); }
            @Override public void checkPermission(java.security.Permission permission) { }
            @Override public void checkPermission(java.security.Permission permission, Object context) { }
        });
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split("\t", -1);
            said.reset();
            told.reset();
            first = null;
            System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(told, true, StandardCharsets.UTF_8));
            int code = run(words[0], Arrays.copyOfRange(words, 1, words.length));
            System.setOut(out);
            System.setErr(err);
            out.println(first == null ? code : first.code);
            out.println(first == null ? text(said) : first.out);
            out.println(first == null ? text(told) : first.err);
            out.flush();
        }
    }

    // What would end the process ends the tool.
    static void end(Class<?> exit) throws Exception {
        Class<?> procedure = Class.forName(exit.getName() + "$Procedure");
        Object ended = java.lang.reflect.Proxy.newProxyInstance(procedure.getClassLoader(), new Class<?>[] {procedure}, (proxy, method, args) -> {
            throw ended((Integer) args[0]);
        });
        exit.getMethod("setExitProcedure", procedure).invoke(null, ended);
        exit.getMethod("setHaltProcedure", procedure).invoke(null, ended);
    }

    static int run(String name, String[] args) throws Exception {
        try {
            Method main = Class.forName(name).getMethod("main", String[].class);
            main.invoke(null, (Object) args);
            return 0;
        } catch (java.lang.reflect.InvocationTargetException thrown) {
            if (first != null) return first.code;
            thrown.getCause().printStackTrace();
            return 1;
        }
    }
}
